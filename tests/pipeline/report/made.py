"""Results of analyses, made by hand: what the sections are given, in every shape that they know."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.report.digests import DIGESTS
from barnabas.pipeline.report.parts import Overview, Result, Row

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)><a href='http://evil.test/'>%{x}"
"""What a client may call itself."""

BEGIN = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def result(rows: Sequence[Row], more: int = 0) -> Result:
    return Result(rows, len(rows) + more, "SELECT *\nFROM made")


OVERVIEW = Overview(("demo.pcapng",), at(0), at(120), 48_213, 63, 12, 3, 5, 2, 312, 4)


VALUES = {"string": "x", "boolean": True, "double": 1.0, "timestamp": at(0), "date": at(0).date()}


def results() -> dict[str, Result]:
    """All of them, with something in each: where nothing was made by hand, a row of the analysis' columns."""
    found = _by_hand()
    columns = {f"analyses/{one.name}": one.columns for one in ANALYSES}
    for digest in DIGESTS:
        if digest.name not in found:
            row = {
                one.name: [] if one.type.startswith("array") else VALUES.get(one.type, 1)
                for one in columns[digest.of]
            }
            found[digest.name] = result([row])
    return found


def _by_hand() -> dict[str, Result]:
    chance = random.Random(4)
    clients = ["orders", "orders-service-a", "payments", HOSTILE]
    latency: list[dict[str, Any]] = []
    of_clients: list[dict[str, Any]] = []
    heat: list[dict[str, Any]] = []
    flight: list[dict[str, Any]] = []
    for second in range(0, 120, 2):
        for api, usual in (
            ("Produce", 2.0),
            ("Fetch", 90.0),
            ("Metadata", 0.4),
            ("Heartbeat", 0.6),
        ):
            slow = 60.0 if api == "Produce" and 60 <= second < 70 else 1.0
            p50 = usual * chance.uniform(0.8, 1.3) * slow
            latency.append(
                {
                    "bucket": at(second),
                    "api": api,
                    "count": 40,
                    "p50_ms": p50,
                    "p99_ms": p50 * chance.uniform(2, 4),
                    "max_ms": p50 * 6,
                    "broker_p99_ms": p50 * 2,
                }
            )
            for number, client in enumerate(clients):
                slow = 80.0 if (client, api) == ("payments", "Produce") and 60 <= second < 70 else 1
                waited = usual * slow * chance.uniform(0.8, 1.3)
                of_clients.append(
                    {
                        "bucket": at(second),
                        "api": api,
                        "client_id": client,
                        "broker": number if number < 3 else None,
                        "count": 10,
                        "p50_ms": waited,
                        "p99_ms": waited * 2,
                        "max_ms": waited * 2,
                        "broker_p99_ms": waited,
                        "series": 16,
                    }
                )
            for power in range(-2, 10):
                bound = 2.0**power
                count = int(60 * 2 ** -abs(power - math.log2(p50)))
                if count:
                    heat.append(
                        {"bucket": at(second), "api": api, "latency_ms": bound, "count": count}
                    )
        for client in clients:
            depth = chance.randint(1, 5)
            flight.append(
                {
                    "bucket": at(second),
                    "client_id": client,
                    "depth_max": depth,
                    "depth_mean": depth / 2,
                }
            )
    refused = [
        ("orders-service-a", "OffsetCommit", "ILLEGAL_GENERATION"),
        ("orders-service-a", "Heartbeat", "REBALANCE_IN_PROGRESS"),
        ("payments", "Produce", "NOT_LEADER_OR_FOLLOWER"),
        (HOSTILE, "Metadata", "UNKNOWN_TOPIC_OR_PARTITION"),
    ]
    errors = [
        {
            "client_id": client,
            "api": api,
            "error": error,
            "count": 60 - 9 * number,
            "first_ts": at(20),
            "last_ts": at(101.5),
        }
        for number, (client, api, error) in enumerate(refused)
    ]
    errors_over_time = [
        {"bucket": at(second), "error": error, "count": chance.randint(1, 9)}
        for second in range(20, 100, 6)
        for _, _, error in refused
        if chance.random() < 0.6
    ]
    rebalances: list[dict[str, Any]] = []
    for generation, begin in ((1, 5.0), (2, 50.0), (3, 90.0)):
        for number in range(4):
            late = number == 3 and generation == 2
            join, sync = (9.5 if late else 3.0 + number / 10), 0.2
            joined = begin + (6.0 if late else number / 5)
            until = {1: 50.0, 2: 90.0, 3: 118.0}[generation]
            base = {
                "group": "orders-service",
                "generation": generation,
                "member": f"consumer-{number}-c0ffee{number}",
                "client_id": clients[number],
                "joined_ts": at(joined),
                "join_ms": join * 1000,
                "sync_ms": sync * 1000,
                "late": late,
                "standstill_ms": (join + sync) * 1000,
                "group_standstill_ms": 15_700.0 if generation == 2 else 4100.0,
                "protocol": "classic",
                "capture": "demo",
                "reason": "a member joined",
                "began_ts": at(begin),
                "members": 4,
                "missed": ["consumer-1-c0ffee1"] if generation == 3 else [],
            }
            ready = joined + join + sync
            for phase, start, end in (
                ("join", joined, joined + join),
                ("sync", joined + join, ready),
                ("consuming", ready, until),
            ):
                rebalances.append({**base, "phase": phase, "start": at(start), "end": at(end)})
    return {
        "unread": result(
            [
                {
                    "kind": "gap",
                    "capture": "demo",
                    "file": None,
                    "reason": "12 bytes are missing",
                    "count": 3,
                    "bytes": 36,
                },
                {
                    "kind": "corrupt",
                    "capture": "demo",
                    "file": "demo.pcapng",
                    "reason": "block length 3",
                    "count": 1,
                    "bytes": None,
                },
            ]
        ),
        "findings": result(
            [
                {
                    "check": "joins",
                    "client": HOSTILE,
                    "api": "JoinGroup",
                    "capture": "demo",
                    "severity": "warning",
                    "connection": 3,
                    "packets": [12, 15],
                    "ts": at(3),
                    "text": f"{HOSTILE} joined late",
                    "advice": "raise group.initial.rebalance.delay.ms",
                },
                {
                    "check": "sequence",
                    "client": HOSTILE,
                    "api": "JoinGroup",
                    "capture": "demo",
                    "severity": "error",
                    "connection": 4,
                    "packets": [99],
                    "ts": at(9),
                    "text": "orders[3]: sequence 7 came twice",
                    "advice": "look at the producer's retries",
                },
                {
                    "check": "heartbeats",
                    "client": HOSTILE,
                    "api": "JoinGroup",
                    "capture": "demo",
                    "severity": "note",
                    "connection": 5,
                    "packets": [],
                    "ts": at(8),
                    "text": "half of a session without one",
                    "advice": "nothing",
                },
            ]
        ),
        "findings_by_check": result(
            [
                {"severity": severity, "check": check, "count": count, "first": first}
                for severity, check, count, first in (
                    ("error", "sequence", 1, "orders[3]: sequence 7 came twice"),
                    ("warning", "joins", 1, f"{HOSTILE} joined late"),
                    ("note", "heartbeats", 1, "half of a session without one"),
                )
            ]
        ),
        "latency": result(latency, 100),
        "latency_clients": result(of_clients),
        "latency_heatmap": result(heat),
        "errors": result(errors),
        "errors_over_time": result(errors_over_time),
        "retries": result(
            [
                {
                    "client_id": client,
                    "api": "Metadata",
                    "error": error,
                    "start": at(second),
                    "end": at(second + 14.5),
                    "attempts": 812,
                    "rate": 56.0,
                    "shortest_pause_ms": 0.4,
                    "host": "127.0.0.1",
                    "capture": "demo",
                }
                for second, client, error in (
                    (10, "payments", "LEADER_NOT_AVAILABLE"),
                    (40, HOSTILE, "LEADER_NOT_AVAILABLE"),
                    (45, "orders", "NOT_LEADER_OR_FOLLOWER"),
                )
            ]
        ),
        "rebalances": result(rebalances),
        "heartbeats": result(
            [
                {
                    "group": "orders-service",
                    "member": f"m-{number}",
                    "client_id": client,
                    "protocol": "classic",
                    "session_timeout_ms": 10000,
                    "interval_ms": None,
                    "intervals": None,
                    "last_ts": at(118),
                    "capture": "demo",
                    "heartbeats": 31,
                    "max_gap_ms": 10000 * share,
                    "share": share,
                    "expired": share > 1,
                }
                for number, (client, share) in enumerate(
                    zip(clients, (0.31, 0.34, 0.72, 1.2), strict=True)
                )
            ]
        ),
        "commits": result(
            [
                {
                    "group": "orders-service",
                    "topic": "orders",
                    "partition": number,
                    "client_id": "orders-service-a",
                    "committed": 500,
                    "fetched_to": 520,
                    "lag": 20,
                    "commits": 7,
                    "refused": 0,
                    "fenced": 0,
                    "rewinds": 0,
                    "host": "127.0.0.1",
                    "capture": "demo",
                    "duplicates": 20 * (number == 1),
                    "gaps": 5 * (number == 2),
                }
                for number in range(4)
            ]
        ),
        "in_flight": result(flight),
        "in_flight_clients": result(
            [{"client_id": client, "depth_max": 5 - n} for n, client in enumerate(clients)]
        ),
        "partition_order": result(
            [
                {
                    "topic": "orders",
                    "partition": 3,
                    "client_id": HOSTILE,
                    "producer_id": None,
                    "kind": "overtaken",
                    "offset": 12,
                    "other_offset": 7,
                    "base_sequence": None,
                    "missing": None,
                    "ts": at(33),
                    "connection": 4,
                    "packet": 4711,
                    "capture": "demo",
                }
            ]
        ),
        "hot_partitions": result(
            [
                {
                    "topic": topic,
                    "partition": number,
                    "produced_records": 900 * weight,
                    "produced_bytes": 81_000 * weight,
                    "produced_requests": 30 * weight,
                    "fetched_records": 1800 * weight,
                    "fetched_bytes": 162_000 * weight,
                    "fetched_requests": 60,
                    "share": 0.1,
                }
                for topic, number, weight in (
                    ("orders", 0, 2),
                    ("orders", 1, 1),
                    ("orders", 2, 40),
                    ("payments", 0, 5),
                    (HOSTILE, 0, 3),
                )
            ]
        ),
        "versions": result(
            [
                {
                    "client_id": client,
                    "software": software,
                    "api": api,
                    "version": version,
                    "count": 400,
                    "removed_in": removed,
                    "listed": removed and api == "Produce",
                    "last_ts": at(100),
                }
                for client, software, api, version, removed in (
                    ("orders", "librdkafka 2.8.0", "Produce", 10, None),
                    ("orders", "librdkafka 2.8.0", "Metadata", 12, None),
                    ("payments", None, "Produce", 2, "4.0"),
                    ("payments", None, "Fetch", 3, "4.0"),
                    ("payments", None, "Metadata", 4, None),
                    (HOSTILE, "<b>x</b>", "Fetch", 16, None),
                    (HOSTILE, "<b>x</b>", "Fetch", 11, None),
                )
            ]
        ),
        "rules": result(
            [
                {
                    "rule": "slow fetches",
                    "capture": "demo",
                    "api": "Fetch",
                    "fired": 62,
                    "p50_with_ms": 130.0,
                    "p50_without_ms": 1.2,
                    "p99_with_ms": 160.0,
                    "p99_without_ms": 2.2,
                    "errors_with": 0,
                    "errors_without": 0,
                    "without": 900,
                    "unanswered": 0,
                    "closed": 0,
                },
                {
                    "rule": "a connection is cut",
                    "capture": "demo",
                    "api": "Fetch",
                    "fired": 1,
                    "p50_with_ms": None,
                    "p50_without_ms": 1.2,
                    "p99_with_ms": 160.0,
                    "p99_without_ms": 2.2,
                    "errors_with": 0,
                    "errors_without": 0,
                    "without": 900,
                    "unanswered": 0,
                    "closed": 1,
                },
            ]
        ),
    }
