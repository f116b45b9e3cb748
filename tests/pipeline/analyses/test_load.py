"""Where the load goes, and how many requests are in flight."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from barnabas.captures.kafka.notes import INFERRED, NOT_CAPTURED, UNANSWERED
from barnabas.pipeline.analyses.hot_partitions import hot_partitions
from barnabas.pipeline.analyses.in_flight import in_flight
from tests.captures.checks.given import produce
from tests.pipeline.analyses.made import fetch, metadata, numbered
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_what_was_taken_and_what_came(spark: SparkSession) -> None:
    follower = rows([fetch(9, 0, 9)])[0]
    follower["seen"]["places"] = None  # as of a request with a replica's id
    found = [
        *rows(
            [
                produce(1, ["a", "b"]),
                produce(2, ["c"]),
                produce(3, ["refused"], error=6),
                produce(4, ["d"], acks=0, error=None, partition=1),
                fetch(5, 0, 2),
                fetch(6, 3, None),
            ]
        ),
        follower,
    ]
    told = hot_partitions(table(spark, found)).collect()
    by = {row["partition"]: row for row in told}
    assert set(by) == {0, 1}
    names = ("produced_records", "produced_requests", "fetched_records", "fetched_requests")
    assert [by[0][name] for name in names] == [3, 2, 3, 1]
    assert [by[1][name] for name in names] == [1, 1, 0, 0]
    whole = sum(row["produced_bytes"] + row["fetched_bytes"] for row in told)
    assert by[0]["share"] == (by[0]["produced_bytes"] + by[0]["fetched_bytes"]) / whole
    assert sum(row["share"] for row in told) == 1


def test_depths_of_connections(spark: SparkSession) -> None:
    silent = replace(produce(1.5, ["x"], acks=0, error=None), note=UNANSWERED)
    guessed = replace(metadata(0.5, connection=2, error=None), note=INFERRED)
    exchanges = numbered(
        produce(1, ["a"], took=4),
        silent,
        guessed,
        replace(produce(1.2, ["d"], error=None), note=NOT_CAPTURED),
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
