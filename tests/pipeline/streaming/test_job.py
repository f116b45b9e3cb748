"""The streaming job writes each row once, whatever kills it, and goes on where it was."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from barnabas.pipeline.streaming import compaction
from barnabas.pipeline.streaming.arrivals import Arrivals
from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.job import Job
from barnabas.pipeline.tables.quality import quality
from barnabas.pipeline.tables.sql import statements
from barnabas.pipeline.tables.tables import read
from tests.captures.writing.test_rotation import SAMPLES, rotated
from tests.places import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCE = SAMPLES / "faults.pcapng"
TABLES = ("exchanges", "inside", "errors", "connections", "notes")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("run") / "captures"
    rotated(SOURCE, made, {20, 45, 70, 95, 120})
    return made


@pytest.fixture(scope="module")
def followed(spark: SparkSession, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of a run that nobody killed."""
    out = tmp_path_factory.mktemp("tables")
    follow(spark, folder, out, at_once=6)
    return out


def follow(spark: SparkSession, folder: Path, out: Path, at_once: int) -> None:
    """Write all batches of the folder."""
    arrivals = Arrivals(folder, out, at_once=at_once)
    arrivals.look()
    Job(spark, folder, Batches(out)).run(arrivals)


def rows(spark: SparkSession, out: Path, table: str) -> list[Row]:
    """What is in a table, but for the batch and the order."""
    found = read(spark, out, table).drop("batch")
    if table == "exchanges":
        found = found.selectExpr("* except (body)", "to_json(body) as body")
    return sorted((each.asDict(recursive=True) for each in found.collect()), key=repr)


def test_batches_that_became_one_hold_the_same_rows(
    spark: SparkSession,
    folder: Path,
    followed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compaction, "BATCHES", 2)
    follow(spark, folder, tmp_path, at_once=2)
    for table in TABLES:
        assert [path.name for path in (tmp_path / table).iterdir()] == ["batch=2"]
        assert rows(spark, tmp_path, table) == rows(spark, followed, table)
    batches, whole = quality(tmp_path), quality(followed)
    assert (
        len(whole) == 1 <= len(batches)
    )  # a batch of segments that wait for one before has no row
    for name in ("files", "bytes", "packets", "exchanges", "errors"):
        assert sum(row[name] for row in batches) == whole[0][name]
    assert whole[0]["exchanges"] == len(rows(spark, followed, "exchanges"))
    assert whole[0]["files"] == len(list(folder.iterdir()))


def test_sql_knows_the_tables_with_their_batches(spark: SparkSession, followed: Path) -> None:
    spark.sql("CREATE DATABASE followed")
    spark.catalog.setCurrentDatabase("followed")
    try:
        for statement in statements(followed):
            spark.sql(statement)
        for table in TABLES:
            found = read(spark, followed, table)
            assert spark.table(table).count() == found.count()
            assert set(spark.table(table).columns) == {*found.columns, "batch"}
        whole = spark.sql(
            "SELECT count(body) AS bodies, count(DISTINCT batch) AS batches FROM exchanges"
        )
        assert [each.asDict() for each in whole.collect()] == [
            {"bodies": len(rows(spark, followed, "exchanges")), "batches": 1}
        ]
    finally:
        spark.catalog.setCurrentDatabase("default")
        spark.sql("DROP DATABASE followed CASCADE")


@pytest.mark.slow("a batch is done some 100 times")
@pytest.mark.timeout(1800)
def test_killed_before_each_step_of_a_batch_it_writes_the_same(
    folder: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "tests.pipeline.killed_batches", str(folder), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    steps = json.loads(done.stdout)
    for stage in (
        *(f"os.rename OUT/_runs/000000001/{table}" for table in (*TABLES, "quality", "state")),
        "open OUT/_runs/000000001/state",
        "shutil.rmtree OUT/_runs/000000001",
        "shutil.rmtree OUT/_runs/compaction",
    ):
        assert any(step.startswith(stage) for step in steps), stage
    exchanged = [step for step in steps if step.startswith("ctypes.dlsym")]
    assert len(exchanged) == 2 * len((*TABLES, "quality")), "one tries whether folders can"
