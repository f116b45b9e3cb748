"""The stages on Spark come to what they come to in memory, whatever the number of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from barnabas.pipeline.reading.ranges import ranges, sorted_paths
from barnabas.pipeline.reading.survey import survey
from barnabas.pipeline.rows.columns import EXCHANGES
from barnabas.pipeline.tables import parquet, spark_stages
from barnabas.pipeline.tables.parquet import tasks
from tests.pipeline.generated import generated
from tests.pipeline.stages import in_memory, planned
from tests.places import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = ("ts_ns", "connection", "ordinal", "api", "latency_ms", "topics", "request_body")


def gist(rows: list[dict[str, Any]]) -> list[Any]:
    return sorted((row["ts_ns"], row["ordinal"], row["api"], row["topics"]) for row in rows)


def test_packed_files_are_surveyed_side_by_side_if_they_are_much(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [SAMPLES / "rebalance.pcap.gz", SAMPLES / "cut-short.pcap.zst"]
    found = ranges(paths)
    assert [one.kind for one in found] == ["packed"] * 2, "each is one range"
    asked: list[int] = []

    def noted(of: SparkSession, count: int) -> DataFrame:
        asked.append(count)
        return tasks(of, count)

    monkeypatch.setattr(parquet, "tasks", noted)
    monkeypatch.setattr(spark_stages, "_LOCAL", 2 * sum(path.stat().st_size for path in paths))
    assert spark_stages.surveyed(spark, found) == [survey(one) for one in found]
    assert asked == [2]


def test_any_number_of_partitions_and_a_survey_by_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [generated(tmp_path / kind, kind, 5) for kind in ("ethernet", "pcapng>")]
    right = in_memory(paths, 8000, columns=COLUMNS)
    monkeypatch.setattr(spark_stages, "_LOCAL", 0)
    made = spark_stages.planned(spark, ranges(sorted_paths(paths), 8000))
    assert made == planned(paths, 8000)
    for partitions, carry in ((1, False), (7, True)):
        rows = spark_stages.segment_rows(spark, made, partitions, carry=carry)
        folder = tmp_path / f"in {partitions}"
        filed = spark_stages.outcome_files(rows, made, COLUMNS, folder)
        assert len(filed) == partitions
        found = [row for one in filed for row in pq.read_table(one.path).to_pylist()]
        exchanges = [row for row in found if row["kind"] == "exchange"]
        assert gist(exchanges) == gist(right.exchanges)
        assert sum(row["kind"] != "exchange" for row in found) >= len(
            {(one.kind, str(one.details), one.position) for one in right.said}
        )
    assert {column.name for column in EXCHANGES} > set(COLUMNS) - {"request_body"}
