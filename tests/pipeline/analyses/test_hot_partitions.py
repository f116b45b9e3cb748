"""Where the load goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.pipeline.analyses.hot_partitions import hot_partitions
from tests.captures.checks.given import produce
from tests.pipeline.analyses.made import fetch
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
