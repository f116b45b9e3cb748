"""Requests in flight at a time."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from barnabas.captures.kafka.notes import INFERRED, UNANSWERED
from barnabas.pipeline.analyses.in_flight import in_flight
from tests.captures.checks.given import produce
from tests.pipeline.analyses.made import metadata, numbered
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_depths_of_connections(spark: SparkSession) -> None:
    silent = dataclasses.replace(produce(1.5, ["x"], acks=0, error=None), note=UNANSWERED)
    guessed = dataclasses.replace(metadata(0.5, connection=2, error=None), note=INFERRED)
    exchanges = numbered(
        produce(1, ["a"], took=4),
        silent,
        guessed,
        produce(2, ["b"], took=4),
        metadata(3, took=4),
        produce(7.5, ["c"]),
        metadata(1, connection=2, took=1),
        metadata(2, connection=2, took=1),
        metadata(1, connection=3, error=None),
        metadata(2, connection=3),
    )
    found = in_flight(table(spark, rows(exchanges))).collect()
    names = ("depth_max", "depth_mean", "produce_depth_max")
    assert {row["connection"]: tuple(row[name] for name in names) for row in found} == {
        1: (3, 7 / 4, 2),
        2: (1, 1.0, None),  # one is answered when the next is sent
        3: (2, 1.5, None),
    }
