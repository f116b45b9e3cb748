"""What batches have added comes to the same rows and analyses as the tables that have them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.job import Job
from barnabas.pipeline.tables.added import added, write_added
from barnabas.pipeline.tables.decoded_bodies import Bodies
from barnabas.pipeline.tables.table_formats import FORMATS, commit_batch
from barnabas.pipeline.tables.tables import read
from tests.captures.writing.test_rotation import rotated
from tests.places import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = ("exchanges", "inside", "errors", "connections", "notes", "quality")
KINDS = pytest.mark.parametrize("kind", list(FORMATS))


@pytest.fixture(scope="module")
def out(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that was followed, in several batches."""
    folder = tmp_path_factory.mktemp("followed")
    rotated(SAMPLES / "rebalance.pcap.gz", folder / "captures", {40, 80, 120, 160, 200})

    def sink(_: SparkSession, tables: Path, number: int) -> None:
        for kind in FORMATS:
            commit_batch(tables, folder / "out", kind, number)

    batches = Batches(folder / "out")
    job = Job(spark, folder / "captures", batches, Bodies(json=True), [sink])
    job.start(at_once=1, until_read=True).awaitTermination()
    return folder / "out"


def rows(spark: SparkSession, out: Path, first: int) -> Iterator[tuple[str, list[Any]]]:
    """The rows of each table, of batches from this one on if there are batches."""
    for table in TABLES:
        result = read(spark, out, table)
        if "batch" in result.columns:
            result = result.where(f"batch >= {first}").drop("batch")
        if table == "exchanges":
            result = result.drop("body_json").selectExpr("* except (body)", "to_json(body) as body")
        yield table, sorted(map(str, result.select(sorted(result.columns)).collect()))


@KINDS
@pytest.mark.parametrize("first", [0, 2])
def test_rows_are_those_of_the_batches(
    spark: SparkSession, out: Path, tmp_path: Path, kind: str, first: int
) -> None:
    result = added(out, kind, first)
    assert result.next == Batches(out).count > first
    write_added(spark, out / kind, result.files, tmp_path)
    of_batches = dict(rows(spark, tmp_path, first))
    assert of_batches == dict(rows(spark, out, first))
    assert len(of_batches["exchanges"]) > 10


@KINDS
def test_where_no_batch_is_nothing_can_be_said(out: Path, tmp_path: Path, kind: str) -> None:
    copy = tmp_path / "out"
    shutil.copytree(out / kind, copy / kind)
    if kind == "delta":
        shutil.rmtree(copy / kind / "exchanges" / "_delta_log")
    else:
        (copy / kind / "catalog.db").unlink()
    before = sorted(copy.rglob("*"))
    with pytest.raises(OSError) as raised:
        added(copy, kind, 0)
    assert raised.value.filename == str(copy / kind / "exchanges")
    assert sorted(copy.rglob("*")) == before


@KINDS
def test_a_batch_that_the_format_has_not_is_named(out: Path, tmp_path: Path, kind: str) -> None:
    for number in (0, 2):
        commit_batch(out, tmp_path, kind, number)
    with pytest.raises(ValueError, match=f"batch 1 is not in the {kind} table "):
        added(tmp_path, kind, 0)
    assert added(tmp_path, kind, 2).next == 3


@KINDS
def test_a_batch_that_is_not_in_all_tables_yet_is_left_for_the_next_time(
    out: Path, tmp_path: Path, kind: str
) -> None:
    commit_batch(out, tmp_path, kind, 0)
    (tmp_path / "short" / "quality").parent.mkdir()
    (tmp_path / "short" / "quality").symlink_to(out / "quality")
    commit_batch(tmp_path / "short", tmp_path, kind, 1)
    result = added(tmp_path, kind, 0)
    assert result.next == 1
    (first,) = [paths for number, paths in FORMATS[kind].batches(tmp_path / kind, "quality")][1:]
    assert result.files["quality"] == first
