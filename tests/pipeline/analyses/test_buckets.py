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
    ("span_ms", "width_ms"),
    [(10 * MOST, 10), (10 * MOST + 1, 20), (10**12, WIDTHS_MS[-1])],
)
def test_the_narrowest_that_gives_few_enough(
    spark: SparkSession, span_ms: int, width_ms: int
) -> None:
    found = table(spark, rows([metadata(0), metadata(15), metadata(span_ms, correlation_id=1)]))
    told = bucketed(found, found).selectExpr("unix_millis(bucket) b").orderBy("b").collect()
    assert [row["b"] for row in told] == [at // width_ms * width_ms for at in (0, 15, span_ms)]
