"""Tables of a table format have the rows of the folder's tables, at each version those that it had then."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from barnabas.pipeline.rows.columns import Column
from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.job import follow
from barnabas.pipeline.tables import table_formats
from barnabas.pipeline.tables.table_formats import FORMATS, commit_batch, commit_capture
from barnabas.pipeline.tables.tables import TABLES, write
from tests.captures.writing.test_rotation import rotated
from tests.places import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIDE = ("inside", "errors", "connections", "notes", "quality")
ONE, OTHER = "rebalance.pcap.gz", "faults.pcapng"

KINDS = pytest.mark.parametrize("kind", list(FORMATS))


def analyzed(out: Path, *captures: str) -> None:
    for name in captures:
        made = write(None, [SAMPLES / name], out, json_bodies=True)
        for kind in FORMATS:
            commit_capture(out, kind, made.capture)


def rows(found: pa.Table) -> list[str]:
    return sorted(json.dumps(one, default=str, sort_keys=True) for one in found.to_pylist())


def parquet(out: Path, table: str) -> list[str]:
    found = pq.read_table(out / table)
    kept = [name for name in found.column_names if name not in ("body", "batch")]
    columns = found.select(kept)
    for name in ("capture", "day"):  # folders' names are read as dictionaries
        if name in kept:
            kind = pa.date32() if name == "day" else pa.string()
            at = kept.index(name)
            columns = columns.set_column(at, name, columns[name].cast(pa.string()).cast(kind))
    return rows(columns)


def iceberg(out: Path, table: str) -> Table:
    with SqlCatalog("barnabas", uri=f"sqlite:///{quote(str(out))}/iceberg/catalog.db") as catalog:
        return catalog.load_table(("barnabas", table))


def versions(out: Path, kind: str, table: str) -> list[tuple[Any, dict[str, int | str]]]:
    """What each version is called, and what its commit says; the latest first."""
    if kind == "delta":
        history = DeltaTable(out / kind / table).history()
        return [(one["version"], json.loads(one["userMetadata"])) for one in history]
    found: list[tuple[Any, dict[str, int | str]]] = []
    for one in reversed(iceberg(out, table).snapshots()):
        summary = {} if one.summary is None else one.summary.additional_properties
        if batch := summary.get("barnabas.batch"):
            found.append((one.snapshot_id, {"batch": int(batch)}))
        elif capture := summary.get("barnabas.capture"):
            found.append((one.snapshot_id, {"capture": capture}))
    return found


def said(out: Path, kind: str, table: str) -> list[dict[str, int | str]]:
    return [one for _, one in versions(out, kind, table)]


def reader(out: Path, kind: str, table: str, version: Any = None) -> Callable[[], pa.Table]:
    """Reads a table, or a version of it, as whoever opened it now."""
    if kind == "delta":
        dataset = DeltaTable(out / kind / table, version=version).to_pyarrow_dataset()
        return lambda: pa.table(dataset.to_table())
    # the rows as they are in the files
    tasks = iceberg(out, table).scan(snapshot_id=version).plan_files()
    files = [task.file.file_path for task in tasks]
    return lambda: pa.table(ds.dataset(files, latest(out, table)).to_table())


def latest(out: Path, table: str) -> pa.Schema:
    """The present columns of a table, as Arrow has them."""
    return iceberg(out, table).schema().as_arrow()


def read(out: Path, kind: str, table: str, version: Any = None) -> list[str]:
    return rows(reader(out, kind, table, version)())


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two captures, of which the first was analyzed once more."""
    made = tmp_path_factory.mktemp("analysis")
    analyzed(made, ONE, OTHER, ONE)
    return made


@KINDS
def test_it_has_what_the_tables_have(out: Path, kind: str) -> None:
    assert len(parquet(out, "exchanges")) > 100
    for table in ("exchanges", *SIDE):
        assert read(out, kind, table) == parquet(out, table)


@KINDS
def test_a_version_is_a_run_in_all_tables(out: Path, tmp_path: Path, kind: str) -> None:
    analyzed(tmp_path, ONE)
    for table in ("exchanges", *SIDE):
        assert said(out, kind, table) == [{"capture": one} for one in (ONE, OTHER, ONE)]
        last, second, first = (version for version, _ in versions(out, kind, table))
        if table != "quality":  # says when
            assert read(out, kind, table, first) == read(tmp_path, kind, table)
        assert len(read(out, kind, table, second)) == len(read(out, kind, table, last))


@KINDS
def test_others_read_it(out: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")  # it would warn that it has no other
    exchanges = (
        pl.scan_delta(str(out / kind / "exchanges"))
        if kind == "delta"
        else pl.scan_iceberg(iceberg(out, "exchanges").metadata_location)
    )
    joins = exchanges.filter(pl.col("api") == "JoinGroup").collect()
    group = joins["body_json"].str.json_path_match("$.request.group_id")
    assert joins["group"].to_list() == group.to_list() != []


@KINDS
def test_a_batch_that_is_done_again_is_there_once(out: Path, tmp_path: Path, kind: str) -> None:
    short = tmp_path / "short"
    shutil.copytree(out, short, ignore=lambda *_: [*FORMATS, "exchanges"])
    commit_batch(short, tmp_path, kind, 0)  # it was cut short before its last table
    commit_batch(out, tmp_path, kind, 0)
    for table in ("exchanges", *SIDE):
        assert said(tmp_path, kind, table) == [{"batch": 0}]
        assert read(tmp_path, kind, table) == parquet(out, table)
    commit_batch(out, tmp_path, kind, 1)
    commit_batch(out, tmp_path, kind, 0)
    assert said(tmp_path, kind, "exchanges") == [{"batch": 1}, {"batch": 0}]
    assert len(read(tmp_path, kind, "exchanges")) == 2 * len(parquet(out, "exchanges"))


@KINDS
def test_a_column_that_came_later_is_null_before(
    out: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_batch(out, tmp_path, kind, 0)
    columns: Mapping[str, tuple[Column, ...]] = {
        **TABLES,
        "exchanges": (*TABLES["exchanges"], Column("later", "string", "came later", 3)),
    }
    monkeypatch.setattr(table_formats, "TABLES", columns)
    commit_batch(out, tmp_path, kind, 1)
    found = reader(tmp_path, kind, "exchanges")()
    assert found["later"].null_count == len(found) == 2 * len(parquet(out, "exchanges"))


@KINDS
def test_a_table_that_can_not_be_written_is_told_in_a_line(
    out: Path, tmp_path: Path, kind: str
) -> None:
    (tmp_path / kind).mkdir()
    (tmp_path / kind / "quality").write_text("no folder")
    with pytest.raises(OSError, match="Not a directory") as raised:
        commit_batch(out, tmp_path, kind, 0)
    assert raised.value.filename == str(tmp_path / kind / "quality")
    assert "\n" not in str(raised.value)


@KINDS
def test_each_batch_of_a_folder_that_is_followed_is_a_version(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    captures, out = tmp_path / "captures", tmp_path / "out"
    rotated(SAMPLES / OTHER, captures, {20, 45, 70, 95, 120})
    seen: list[tuple[Callable[[], pa.Table], int]] = []

    def sink(_: SparkSession, tables: Path, number: int) -> None:
        commit_batch(tables, out, kind, number)
        opened = reader(out, kind, "exchanges")
        seen.append((opened, len(opened())))

    query = follow(
        spark,
        captures,
        Batches(out),
        at_once=2,
        until_read=True,
        json_bodies=True,
        sinks=[sink],
    )
    query.awaitTermination()
    assert said(out, kind, "exchanges") == [{"batch": number} for number in (2, 1, 0)]
    for table in ("exchanges", *SIDE):
        assert read(out, kind, table) == parquet(out, table)
    counts = [count for _, count in seen]
    assert counts == sorted(counts), "a batch whose segments wait for one before adds none"
    for (version, _), (opened, count) in zip(
        reversed(versions(out, kind, "exchanges")), seen, strict=True
    ):
        assert len(read(out, kind, "exchanges", version)) == count
        assert len(opened()) == count, "who read before still can"


@KINDS
def test_batches_tell_the_files_that_they_added(out: Path, tmp_path: Path, kind: str) -> None:
    for number in range(3):
        commit_batch(out, tmp_path, kind, number)
    found = list(FORMATS[kind].batches(tmp_path / kind, "connections"))
    assert [number for number, _ in found] == [2, 1, 0]
    files = [path for _, paths in found for path in paths]
    assert len(files) == len(set(files))
    for _, paths in found:
        assert ds.dataset(paths).count_rows() == len(parquet(out, "connections"))
