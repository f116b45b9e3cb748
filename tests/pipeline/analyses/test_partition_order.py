"""Order of records within partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from barnabas.pipeline.analyses.partition_order import partition_order
from tests.captures.checks.given import produce
from tests.pipeline.analyses.made import numbered
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_batches_that_are_not_where_they_were_sent(spark: SparkSession) -> None:
    healthy = [
        produce(0, ["a"], offset=0, took=5, topic="healthy"),
        produce(1, ["b"], offset=1, took=5, topic="healthy"),
        # failed, and nothing was sent behind it before its answer came
        produce(10, ["c"], error=6, topic="healthy"),
        produce(20, ["d"], offset=2, topic="healthy"),
        produce(30, ["c"], offset=3, topic="healthy"),
    ]
    again = [
        produce(0, ["a"], error=7, took=5, topic="again"),
        produce(1, ["b"], offset=0, took=5, topic="again"),
        produce(10, ["a"], offset=1, topic="again"),
    ]
    overtaken = [
        produce(0, ["a"], offset=1, took=5, topic="overtaken"),
        produce(1, ["b"], offset=0, took=5, topic="overtaken"),
    ]
    known: dict[str, Any] = {"producer": 7, "epoch": 0, "topic": "numbers"}
    numbers = [
        produce(0, ["a", "b"], offset=0, sequence=0, **known),
        produce(10, ["c"], offset=2, sequence=2, **known),
        produce(20, ["d"], offset=3, sequence=5, **known),
        produce(30, ["e"], offset=4, sequence=6, losses=1, **known),
        produce(40, ["f"], offset=5, sequence=9, losses=2, **known),  # behind a gap in the capture
    ]
    wraps: dict[str, Any] = {"producer": 8, "epoch": 0, "topic": "wraps"}
    around = [
        produce(0, ["a", "b"], offset=0, sequence=2**31 - 2, **wraps),
        produce(10, ["c"], offset=2, sequence=0, **wraps),
    ]
    exchanges = []
    for connection, some in enumerate((healthy, again, overtaken, numbers, around)):
        for one in numbered(*some):
            one.connection = connection
            exchanges.append(one)
    found = partition_order(table(spark, rows(exchanges))).collect()
    names = ("topic", "kind", "offset", "other_offset", "producer_id", "base_sequence", "missing")
    assert {tuple(row[name] for name in names) for row in found} == {
        ("again", "sent again", 1, 0, None, None, None),
        ("overtaken", "overtaken", 1, 0, None, None, None),
        ("numbers", "sequence left out", 3, 2, 7, 5, 2),
    }
