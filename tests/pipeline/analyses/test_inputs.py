"""Analyses are given what they ask for, and no more."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from barnabas.pipeline.analyses.inputs import in_files, in_memory
from barnabas.pipeline.analyses.registry import ANALYSES, Analysis
from barnabas.pipeline.rows.columns import BODY_JSON
from tests.captures.checks.groups import heartbeat, join
from tests.pipeline.analyses.made import metadata
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def exchanges(spark: SparkSession) -> DataFrame:
    made = table(spark, rows([metadata(0), join(1), heartbeat(2)]))
    return made.selectExpr("*", f"'{{}}' as {BODY_JSON.name}")


def nothing(of: DataFrame) -> DataFrame:
    return of


def test_bodies_are_kept_of_apis_whose_bodies_are_read(spark: SparkSession) -> None:
    reads = Analysis(nothing, (), wide=True, bodies=("JoinGroup",))
    given = in_memory(exchanges(spark), [reads, reads._replace(bodies=("SyncGroup",))])
    kept = given.to(reads)
    found = {
        row["api"]: row["there"]
        for row in kept.selectExpr("api", "body is not null there").collect()
    }
    assert found == {"Metadata": False, "JoinGroup": True, "Heartbeat": False}
    assert BODY_JSON.name not in kept.columns


@pytest.mark.parametrize("little", [True, False])
def test_who_asks_for_no_structures_is_given_none(spark: SparkSession, *, little: bool) -> None:
    given = in_memory(exchanges(spark), ANALYSES) if little else in_files(exchanges(spark))
    narrow = given.to(Analysis(nothing, ()))
    assert not {"partitions", "seen", "body", BODY_JSON.name} & {*narrow.columns}
    assert narrow.count() == 3


def test_what_is_kept_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    exchanges(spark).write.parquet(str(tmp_path / "exchanges"))
    given = in_memory(spark.read.parquet(str(tmp_path / "exchanges")), ANALYSES)
    before = [kept.count() for kept in given]
    shutil.rmtree(tmp_path / "exchanges")
    assert [kept.count() for kept in given] == before == [3, 3]
