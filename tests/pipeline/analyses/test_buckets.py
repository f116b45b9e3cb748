"""Buckets as wide as the time asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from barnabas.pipeline.analyses.buckets import MOST, WIDTHS_MS, bucketed
from tests.pipeline.analyses.made import metadata
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("span_ms", "width_ms"), [(10 * MOST, 10), (10 * MOST + 1, 20), (10**12, WIDTHS_MS[-1])]
)
def test_the_narrowest_that_gives_few_enough(
    spark: SparkSession, span_ms: int, width_ms: int
) -> None:
    found = table(spark, rows([metadata(0), metadata(15), metadata(span_ms, correlation_id=1)]))
    told = bucketed(found, found).selectExpr("unix_millis(bucket) b").orderBy("b").collect()
    assert [row["b"] for row in told] == [at // width_ms * width_ms for at in (0, 15, span_ms)]


def test_each_capture_has_buckets_of_its_own(spark: SparkSession) -> None:
    years = 3 * 365 * 86_400_000
    short = rows([metadata(0), metadata(15)], "short")
    later = [metadata(at, correlation_id=1) for at in (years, years + 10 * MOST)]
    found = table(spark, short + rows(later, "other"))
    told = bucketed(found, found).selectExpr("capture", "unix_millis(bucket) b").collect()
    assert sorted((row["capture"], row["b"]) for row in told) == [
        ("other", years),
        ("other", years + 10 * MOST),
        ("short", 0),
        ("short", 10),
    ]
