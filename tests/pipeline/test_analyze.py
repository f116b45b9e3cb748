"""Analyses of little come to what those of any size come to."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from barnabas.pipeline import analyze as module
from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.analyze import Outcome, analyze
from barnabas.pipeline.rows.columns import ddl
from barnabas.pipeline.tables.analysis_tables import by_tasks
from barnabas.pipeline.tables.schemas import TABLES
from barnabas.pipeline.tables.tables import write
from tests.places import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ("faults.pcapng", "midway.pcap")


def contents(out: Path, columns: dict[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """The rows of each table, in an order."""
    for name, wanted in columns.items():
        files = ds.dataset(out / name, partitioning="hive", exclude_invalid_files=False)
        rows = files.to_table(columns=wanted).to_pylist()
        yield name, sorted(str(_plain(row)) for row in rows)


def _plain(value: Any) -> Any:
    """Without how a time was written, and the last digits of sums, which depend on their order."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, float):
        return round(value, 6)
    return value.replace(tzinfo=None).isoformat() if hasattr(value, "isoformat") else value


@contextlib.contextmanager
def compiling(spark: SparkSession) -> Iterator[None]:
    """Spark as it is for who has more than few rows: see `INTERPRETED`."""
    (name,) = module.INTERPRETED
    spark.conf.set(name, "FALLBACK")
    yield
    spark.conf.set(name, module.INTERPRETED[name])


def test_one_task_and_many_say_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {name: [one.name for one in TABLES[name]] for name in ("exchanges", "errors")}
    tables |= {
        name: [one.name for one in TABLES[name]] for name in ("connections", "inside", "notes")
    }
    tables["exchanges"].append("body")
    tables |= {f"analyses/{one.name}": [each.name for each in one.columns] for one in ANALYSES}
    for name in NAMES:
        write(None, [SAMPLES / name], tmp_path / "here")
        write(spark, [SAMPLES / name], tmp_path / "tasks")
    found: dict[str, tuple[Outcome, dict[str, list[str]]]] = {}
    ways = {"least": (1 << 30, 1 << 30, 1 << 30), "few": (1 << 30, -1, -1), "many": (-1, -1, -1)}
    for size, (few, fewer, little) in ways.items():
        monkeypatch.setattr(module, "FEW", few)
        monkeypatch.setattr(module, "FEWER", fewer)
        monkeypatch.setattr(module, "LITTLE", little)
        out = tmp_path / size
        shutil.copytree(tmp_path / ("here" if size == "least" else "tasks"), out)
        jobs = len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))
        with compiling(spark) if size == "many" else contextlib.nullcontext():
            outcome = analyze(spark, out)
        jobs = len(spark.sparkContext.statusTracker().getJobIdsForGroup(None)) - jobs
        assert (jobs < 60) is (size != "many"), "what costs is how many jobs there are"
        inside = {path.suffix for path in (out / "analyses").rglob("*") if path.is_file()}
        assert inside == {".parquet"}, "others who read Parquet take all for it"
        found[size] = outcome, dict(contents(out, tables))
    one, here = found["many"]
    for size in ("least", "few"):
        other, there = found[size]
        differing = {name: set(here[name]) ^ set(there[name]) for name in tables}
        assert {name: sorted(some)[:4] for name, some in differing.items() if some} == {}
        assert {name: len(some) for name, some in here.items()} == {
            name: len(some) for name, some in there.items()
        }
        assert one.overview == other.overview
        results = {name for name in one.results if one.results[name] != other.results[name]}
        assert results == set()
        same = Path(one.report).read_text("utf-8") == Path(other.report).read_text("utf-8")
        assert same, "a page is too long to be shown"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"


@pytest.mark.parametrize("tasks", [0, 2])
def test_a_table_without_rows_has_a_file(spark: SparkSession, tmp_path: Path, tasks: int) -> None:
    columns = ANALYSES[0].columns
    none = spark.createDataFrame(spark.sparkContext.emptyRDD(), ddl(columns))
    by_tasks(none.repartition(tasks) if tasks else none, tmp_path / "x", columns)
    (file,) = (tmp_path / "x").iterdir()
    assert pq.read_table(file).column_names == [column.name for column in columns]
    assert pq.read_metadata(file).num_rows == 0
