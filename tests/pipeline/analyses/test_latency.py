"""Latency: percentiles by bucket, API, client and broker; logarithmic buckets; the width of buckets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from barnabas.captures.summary.heat_map import bound_ms, bucket
from barnabas.pipeline.analyses.buckets import MOST, WIDTHS_MS, bucketed
from barnabas.pipeline.analyses.latency import latency
from barnabas.pipeline.analyses.latency_heatmap import latency_heatmap
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
    result = latency(table(spark, rows([*answered, *others])))
    names = ("bucket", "client_id", "broker", "count", "p50_ms", "p90_ms", "p99_ms", "max_ms")
    start, late = datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, 0, 0, 24, tzinfo=UTC)
    reported = {tuple(row[name] for name in names) for row in result.collect()}
    times = {row["bucket"].timestamp() for row in result.select("bucket").collect()}
    assert times == {start.timestamp(), late.timestamp()}  # buckets of 100 ms
    assert {row[1:] for row in reported} == {
        ("one", 1, 100, 50.0, 90.0, 99.0, 100.0),
        ("two", 2, 1, 7.5, 7.5, 7.5, 7.5),
        ("two", 2, 1, 3.0, 3.0, 3.0, 3.0),
    }


def test_two_to_an_octave_each_up_to_its_bound(spark: SparkSession) -> None:
    took = (0, 0.001, 4, 4.01, 5.6, 5.7, 8)
    result = latency_heatmap(table(spark, rows([metadata(1, took=one) for one in took])))
    reported = {(round(row["latency_ms"], 3), row["count"]) for row in result.collect()}
    assert reported == {(0.016, 2), (4.0, 1), (5.657, 2), (8.0, 2)}
    # as the view that is made while exchanges come
    assert {at for at, _ in reported} == {round(bound_ms(bucket(one)), 3) for one in took}


@pytest.mark.parametrize(
    ("span_ms", "width_ms"), [(10 * MOST, 10), (10 * MOST + 1, 20), (10**12, WIDTHS_MS[-1])]
)
def test_the_narrowest_that_gives_few_enough(
    spark: SparkSession, span_ms: int, width_ms: int
) -> None:
    result = table(spark, rows([metadata(0), metadata(15), metadata(span_ms, correlation_id=1)]))
    reported = bucketed(result).selectExpr("unix_millis(bucket) b").orderBy("b").collect()
    assert [row["b"] for row in reported] == [at // width_ms * width_ms for at in (0, 15, span_ms)]


def test_each_capture_has_buckets_of_its_own(spark: SparkSession) -> None:
    years = 3 * 365 * 86_400_000
    short = rows([metadata(0), metadata(15)], "short")
    later = [metadata(at, correlation_id=1) for at in (years, years + 10 * MOST)]
    result = table(spark, short + rows(later, "other"))
    reported = bucketed(result).selectExpr("capture", "unix_millis(bucket) b").collect()
    assert sorted((row["capture"], row["b"]) for row in reported) == [
        ("other", years),
        ("other", years + 10 * MOST),
        ("short", 0),
        ("short", 10),
    ]
