"""Percentiles by bucket, API, client and broker."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from barnabas.pipeline.analyses.latency import latency
from tests.pipeline.analyses.made import metadata
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_percentiles_are_nearest_ranks(spark: SparkSession) -> None:
    answered = [metadata(n, took=n + 1, client="one") for n in range(100)]
    others = [
        metadata(5, took=7.5, client="two", broker=2),
        metadata(24_000, took=3, client="two", broker=2),
        metadata(6, error=None, client="two", broker=2),
    ]
    found = latency(table(spark, rows([*answered, *others])))
    names = ("bucket", "client_id", "broker", "count", "p50_ms", "p90_ms", "p99_ms", "max_ms")
    start, late = datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, 0, 0, 24, tzinfo=UTC)
    told = {tuple(row[name] for name in names) for row in found.collect()}
    times = {row["bucket"].timestamp() for row in found.select("bucket").collect()}
    assert times == {start.timestamp(), late.timestamp()}  # buckets of 100 ms
    assert {row[1:] for row in told} == {
        ("one", 1, 100, 50.0, 90.0, 99.0, 100.0),
        ("two", 2, 1, 7.5, 7.5, 7.5, 7.5),
        ("two", 2, 1, 3.0, 3.0, 3.0, 3.0),
    }
