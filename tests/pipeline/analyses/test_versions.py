"""Versions that clients use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.captures.kafka.exchange import Exchange
from barnabas.pipeline.analyses.versions import removed, versions
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def with_request(at: int, key: int, version: int) -> Exchange:
    return Exchange(at * 1_000_000, 1, "a:1", "old", 1, key, version, at, 20)


def test_what_an_upgrade_takes_away(spark: SparkSession) -> None:
    calls = [(1, 1, 3), (2, 1, 3), (3, 1, 4), (4, 0, 2), (5, 0, 3), (6, 4, 7), (7, -1, 0)]
    found = versions(table(spark, rows(with_request(*call) for call in calls))).collect()
    names = ("client_id", "api", "version", "count", "removed_in", "listed")
    assert {tuple(row[name] for name in names) for row in found} == {
        ("old", "Fetch", 3, 2, "4.0", False),
        ("old", "Fetch", 4, 1, None, None),
        ("old", "Produce", 2, 1, "4.0", True),
        ("old", "Produce", 3, 1, None, None),
        ("old", "LeaderAndIsr", 7, 1, "4.0", False),
    }


def test_what_went_to_another_listener_or_came_back_is_not_removed() -> None:
    gone = removed()
    assert not [place for place in gone if place[0] in ("Vote", "Envelope", "UnregisterBroker")]
    assert gone["CreateTopics", 1] == gone["Produce", 0] == "4.0"
