"""The Delta tables have the rows of the folder's tables, at each version those that it had then."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.job import follow
from barnabas.pipeline.tables.delta import DELTA, commit_batch, commit_capture
from barnabas.pipeline.tables.tables import write
from tests.captures.writing.test_rotation import rotated
from tests.places import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIDE = ("errors", "connections", "notes", "quality")
ONE, OTHER = "rebalance.pcap.gz", "faults.pcapng"


def analyzed(out: Path, *captures: str) -> None:
    for name in captures:
        made = write(None, [SAMPLES / name], out, json_bodies=True)
        commit_capture(out, made.capture)


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


def delta(out: Path, table: str, version: int | None = None) -> list[str]:
    found = DeltaTable(out / DELTA / table, version=version)
    return rows(pa.table(found.to_pyarrow_dataset().to_table()))


def metadata(out: Path, table: str) -> list[Any]:
    """What each commit says, the latest first."""
    history = DeltaTable(out / DELTA / table).history()
    return [json.loads(one["userMetadata"]) for one in history]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two captures, of which the first was analyzed once more."""
    made = tmp_path_factory.mktemp("analysis")
    analyzed(made, ONE, OTHER, ONE)
    return made


def test_delta_has_what_the_tables_have(out: Path) -> None:
    assert len(parquet(out, "exchanges")) > 100
    for table in ("exchanges", *SIDE):
        assert delta(out, table) == parquet(out, table)


def test_a_version_is_a_run_in_all_tables(out: Path, tmp_path: Path) -> None:
    analyzed(tmp_path, ONE)
    for table in ("exchanges", *SIDE):
        said = [{"capture": one} for one in (ONE, OTHER, ONE)]
        assert metadata(out, table) == said
        if table != "quality":  # says when
            assert delta(out, table, 0) == delta(tmp_path, table)
        assert len(delta(out, table, 1)) == len(delta(out, table, 2))


def test_others_read_it(out: Path) -> None:
    exchanges = pl.scan_delta(str(out / DELTA / "exchanges"))
    joins = exchanges.filter(pl.col("api") == "JoinGroup").collect()
    group = joins["body_json"].str.json_path_match("$.request.group_id")
    assert joins["group"].to_list() == group.to_list() != []


def test_a_batch_that_is_done_again_is_there_once(out: Path, tmp_path: Path) -> None:
    batches = tmp_path / DELTA
    commit_batch(out, batches, 0)
    shutil.rmtree(batches / "exchanges")  # as if it had been cut short before its last table
    commit_batch(out, batches, 0)
    for table in ("exchanges", *SIDE):
        assert metadata(tmp_path, table) == [{"batch": 0}]
        assert delta(tmp_path, table) == parquet(out, table)
    before = DeltaTable(batches / "exchanges").to_pyarrow_dataset()
    commit_batch(out, batches, 1)
    assert metadata(tmp_path, "exchanges") == [{"batch": 1}, {"batch": 0}]
    assert len(delta(tmp_path, "exchanges")) == 2 * before.count_rows()


def test_a_table_that_can_not_be_written_is_told_in_a_line(out: Path, tmp_path: Path) -> None:
    (tmp_path / DELTA).mkdir()
    (tmp_path / DELTA / "quality").write_text("no folder")
    with pytest.raises(OSError, match="Not a directory") as raised:
        commit_batch(out, tmp_path / DELTA, 0)
    assert raised.value.filename == str(tmp_path / DELTA / "quality")
    assert raised.value.strerror == "Not a directory (os error 20)"


def test_each_batch_of_a_folder_that_is_followed_is_a_version(
    spark: SparkSession, tmp_path: Path
) -> None:
    captures, out = tmp_path / "captures", tmp_path / "out"
    rotated(SAMPLES / OTHER, captures, {20, 45, 70, 95, 120})
    place = out / DELTA / "exchanges"
    seen: list[tuple[DeltaTable, int]] = []

    def sink(_: SparkSession, tables: Path, number: int) -> None:
        commit_batch(tables, out / DELTA, number)
        reader = DeltaTable(place)
        seen.append((reader, reader.to_pyarrow_dataset().count_rows()))

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
    assert metadata(out, "exchanges") == [{"batch": number} for number in (2, 1, 0)]
    for table in ("exchanges", *SIDE):
        assert delta(out, table) == parquet(out, table)
    counts = [count for _, count in seen]
    assert counts == sorted(counts), "a batch whose segments wait for one before adds none"
    for version, (reader, count) in enumerate(seen):
        assert len(delta(out, "exchanges", version)) == count
        assert reader.to_pyarrow_dataset().count_rows() == count, "who read before still can"
