"""Silences of members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.pipeline.analyses.heartbeats import heartbeats
from tests.captures.checks.groups import commit, group_heartbeat, heartbeat, join, sync
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_classic_members(spark: SparkSession) -> None:
    exchanges = [
        join(0, took=10),
        sync(20, took=10),  # silent from 30 on
        heartbeat(3030),
        commit(4030),
        heartbeat(8530),  # 4500 of 9000
        join(0, "late", took=10),
        heartbeat(10_000, "late"),
        join(0, "out", took=10),
        heartbeat(100, "out"),
        heartbeat(200, "out", error=25),
        join(0, "torn", took=10, losses=0),
        heartbeat(8000, "torn", losses=1),
        join(0, "waits", took=10),
        heartbeat(3000, "waits", took=4000),
        heartbeat(10_000, "waits"),  # 3000 since it had its answer
        heartbeat(9000, "before"),  # joined before the capture
        heartbeat(9500, "before"),
    ]
    found = heartbeats(table(spark, rows(exchanges))).collect()
    names = ("session_timeout_ms", "heartbeats", "max_gap_ms", "share", "expired")
    assert {row["member"]: tuple(row[name] for name in names) for row in found} == {
        "m": (9000, 2, 4500.0, 0.5, False),
        "late": (9000, 1, 9990.0, 1.11, True),
        "out": (9000, 2, 99.0, 0.011, True),
        "torn": (9000, 1, None, None, False),
        "waits": (9000, 2, 3000.0, 3000 / 9000, False),
        "before": (None, 2, 499.0, None, False),
    }
    assert {row["protocol"] for row in found} == {"classic"}


def test_members_with_heartbeats_of_their_own(spark: SparkSession) -> None:
    exchanges = [
        group_heartbeat(0, 0, 1),
        group_heartbeat(5001, 1, 1),
        group_heartbeat(12_502, 1, 2),
        group_heartbeat(30_000, -1, -1),
        group_heartbeat(0, 0, 1, member="fenced"),
        group_heartbeat(5001, 1, 0, member="fenced", error=110),
        # commits keep nobody in such a group, and are never late
        group_heartbeat(0, 0, 1, member="commits"),
        commit(4001, "commits"),
        commit(8001, "commits"),
        commit(12_001, "commits"),
        group_heartbeat(16_001, 1, 1, member="commits"),
        commit(25_001, "commits"),
        commit(40_002, "commits"),
    ]
    found = heartbeats(table(spark, rows(exchanges))).collect()
    names = ("protocol", "interval_ms", "heartbeats", "max_gap_ms", "intervals", "expired")
    api = "ConsumerGroupHeartbeat"
    assert {row["member"]: tuple(row[name] for name in names) for row in found} == {
        "m": (api, 5000, 4, 7500.0, 1.5, False),
        "fenced": (api, 5000, 2, 5000.0, 1.0, True),
        "commits": (api, 5000, 2, 24_000.0, 4.8, False),
    }
