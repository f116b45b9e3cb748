"""What batches have added comes to the same rows and analyses as the tables that have them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from barnabas.pipeline.streaming.arrivals import Arrivals
from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.job import Job
from barnabas.pipeline.tables.added import added, write_added
from barnabas.pipeline.tables.decoded_bodies import Bodies
from barnabas.pipeline.tables.delta import batches, commit_batch
from barnabas.pipeline.tables.tables import read
from tests.captures.writing.test_rotation import rotated
from tests.places import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = ("exchanges", "inside", "errors", "connections", "notes", "quality")


@pytest.fixture(scope="module")
def out(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that was followed, in several batches."""
    folder = tmp_path_factory.mktemp("followed")
    rotated(SAMPLES / "rebalance.pcap.gz", folder / "captures", {40, 80, 120, 160, 200})

    def sink(tables: Path, number: int) -> None:
        commit_batch(tables, folder / "out", number)

    captures, out = folder / "captures", folder / "out"
    arrivals = Arrivals(captures, out, at_once=1)
    arrivals.look()
    Job(spark, captures, Batches(out), Bodies(json=True), [sink]).run(arrivals)
    return out


def rows(spark: SparkSession, out: Path, first: int) -> Iterator[tuple[str, list[Any]]]:
    """The rows of each table, of batches from this one on if there are batches."""
    for table in TABLES:
        result = read(spark, out, table)
        if "batch" in result.columns:
            result = result.where(f"batch >= {first}").drop("batch")
        if table == "exchanges":
            result = result.drop("body_json").selectExpr("* except (body)", "to_json(body) as body")
        yield table, sorted(map(str, result.select(sorted(result.columns)).collect()))


@pytest.mark.parametrize("first", [0, 2])
def test_rows_are_those_of_the_batches(
    spark: SparkSession, out: Path, tmp_path: Path, first: int
) -> None:
    result = added(out, first)
    assert result.next == Batches(out).count > first
    write_added(spark, out, result.files, tmp_path)
    of_batches = dict(rows(spark, tmp_path, first))
    assert of_batches == dict(rows(spark, out, first))
    assert len(of_batches["exchanges"]) > 10


def test_where_no_batch_is_nothing_can_be_said(out: Path, tmp_path: Path) -> None:
    copy = tmp_path / "out"
    shutil.copytree(out / "delta", copy / "delta")
    shutil.rmtree(copy / "delta" / "exchanges" / "_delta_log")
    before = sorted(copy.rglob("*"))
    with pytest.raises(OSError) as raised:
        added(copy, 0)
    assert raised.value.filename == str(copy / "delta" / "exchanges")
    assert sorted(copy.rglob("*")) == before


def test_a_batch_that_the_format_has_not_is_named(out: Path, tmp_path: Path) -> None:
    for number in (0, 2):
        commit_batch(out, tmp_path, number)
    with pytest.raises(ValueError, match="batch 1 is not in the Delta table "):
        added(tmp_path, 0)
    assert added(tmp_path, 2).next == 3


def test_a_batch_that_is_not_in_all_tables_yet_is_left_for_the_next_time(
    out: Path, tmp_path: Path
) -> None:
    commit_batch(out, tmp_path, 0)
    (tmp_path / "short" / "quality").parent.mkdir()
    (tmp_path / "short" / "quality").symlink_to(out / "quality")
    commit_batch(tmp_path / "short", tmp_path, 1)
    result = added(tmp_path, 0)
    assert result.next == 1
    (first,) = [paths for number, paths in batches(tmp_path / "delta" / "quality")][1:]
    assert result.files["quality"] == first
