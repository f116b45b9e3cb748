"""Latencies in logarithmic buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.captures.summary.heat_map import bound_ms, bucket
from barnabas.pipeline.analyses.latency_heatmap import latency_heatmap
from tests.pipeline.analyses.made import metadata
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_two_to_an_octave_each_up_to_its_bound(spark: SparkSession) -> None:
    took = (0, 0.001, 4, 4.01, 5.6, 5.7, 8)
    found = latency_heatmap(table(spark, rows([metadata(1, took=one) for one in took])))
    told = {(round(row["latency_ms"], 3), row["count"]) for row in found.collect()}
    assert told == {(0.016, 2), (4.0, 1), (5.657, 2), (8.0, 2)}
    # as the view that is made while exchanges come
    assert {at for at, _ in told} == {round(bound_ms(bucket(one)), 3) for one in took}
