"""Results of analyses, made by hand: what the sections are given, in every shape that they know.

Rows are in the order of their digest.
"""

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


def rows(names: str, *values: tuple[Any, ...], **same: Any) -> list[dict[str, Any]]:
    """Rows with values by the names of their columns, and the same in each for other columns."""
    return [dict(zip(names.split(), each, strict=True)) | same for each in values]


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


def table(names: str, *values: tuple[Any, ...], **same: Any) -> Result:
    """Such rows as the result of an analysis."""
    return result(rows(names, *values, **same))


CLIENTS = ("orders", "orders-service-a", "payments", HOSTILE)


def _by_hand() -> dict[str, Result]:
    chance = random.Random(4)
    latency: list[tuple[Any, ...]] = []
    of_clients: list[tuple[Any, ...]] = []
    heat: list[tuple[Any, ...]] = []
    flight: list[tuple[Any, ...]] = []
    for second in range(0, 120, 2):
        for api, usual in ("Produce", 2.0), ("Fetch", 90.0), ("Metadata", 0.4), ("Heartbeat", 0.6):
            slow = 60.0 if api == "Produce" and 60 <= second < 70 else 1.0
            p50 = usual * chance.uniform(0.8, 1.3) * slow
            p99 = p50 * chance.uniform(2, 4)
            latency.append((at(second), api, 40, p50, p99, p50 * 6, p50 * 2))
            for number, client in enumerate(CLIENTS):
                slow = 80.0 if (client, api) == ("payments", "Produce") and 60 <= second < 70 else 1
                waited = usual * slow * chance.uniform(0.8, 1.3)
                broker = number if number < 3 else None
                figures = (10, waited, waited * 2, waited * 2, waited, 16)
                of_clients.append((at(second), api, client, broker, *figures))
            for power in range(-2, 10):
                bound = 2.0**power
                count = int(60 * 2 ** -abs(power - math.log2(p50)))
                if count:
                    heat.append((at(second), api, bound, count))
        for client in CLIENTS:
            depth = chance.randint(1, 5)
            flight.append((at(second), client, depth, depth / 2))
    refused = (
        ("orders-service-a", "OffsetCommit", "ILLEGAL_GENERATION"),
        ("orders-service-a", "Heartbeat", "REBALANCE_IN_PROGRESS"),
        ("payments", "Produce", "NOT_LEADER_OR_FOLLOWER"),
        (HOSTILE, "Metadata", "UNKNOWN_TOPIC_OR_PARTITION"),
    )
    errors = [(*each, 60 - 9 * number, at(20), at(101.5)) for number, each in enumerate(refused)]
    errors_over_time = [
        (at(second), error, chance.randint(1, 9))
        for second in range(20, 100, 6)
        for _, _, error in refused
        if chance.random() < 0.6
    ]
    percentiles = "p50_ms p99_ms max_ms broker_p99_ms"
    return {
        "unread": table(
            "kind file reason count bytes",
            ("gap", None, "12 bytes are missing", 3, 36),
            ("corrupt", "demo.pcapng", "block length 3", 1, None),
            capture="demo",
        ),
        "findings": table(
            "check severity connection packets ts text advice",
            ("sequence", "error", 4, [99], at(9), "orders[3]: sequence 7 came twice", "look there"),
            ("joins", "warning", 3, [12, 15], at(3), f"{HOSTILE} joined late", "raise the delay"),
            ("heartbeats", "note", 5, [], at(8), "half of a session without one", "nothing"),
            client=HOSTILE,
            api="JoinGroup",
            capture="demo",
            topic="orders",
            group=None,
            broker=0,
        ),
        "findings_by_check": table(
            "severity check count first",
            ("error", "sequence", 1, "orders[3]: sequence 7 came twice"),
            ("warning", "joins", 1, f"{HOSTILE} joined late"),
            ("note", "heartbeats", 1, "half of a session without one"),
        ),
        "latency": result(rows(f"bucket api count {percentiles}", *latency), 100),
        "latency_clients": result(
            rows(f"bucket api client_id broker count {percentiles} series", *of_clients)
        ),
        "latency_heatmap": table("bucket api latency_ms count", *heat),
        "errors": table("client_id api error count first_ts last_ts", *errors),
        "errors_over_time": table("bucket error count", *errors_over_time),
        "retries": table(
            "start end client_id error",
            (at(10), at(24.5), "payments", "LEADER_NOT_AVAILABLE"),
            (at(40), at(54.5), HOSTILE, "LEADER_NOT_AVAILABLE"),
            (at(45), at(59.5), "orders", "NOT_LEADER_OR_FOLLOWER"),
            api="Metadata",
            attempts=812,
            rate=56.0,
            shortest_pause_ms=0.4,
            host="127.0.0.1",
            capture="demo",
        ),
        "rebalances": result(_rebalances()),
        "heartbeats": table(
            "member client_id max_gap_ms share expired",
            *(
                (f"m-{number}", CLIENTS[number], 10000 * share, share, share > 1)
                for number, share in ((3, 1.2), (2, 0.72), (1, 0.34), (0, 0.31))
            ),
            group="orders-service",
            protocol="classic",
            session_timeout_ms=10000,
            interval_ms=None,
            intervals=None,
            last_ts=at(118),
            capture="demo",
            heartbeats=31,
        ),
        "commits": table(
            "partition duplicates gaps",
            *((1, 20, 0), (2, 0, 5), (0, 0, 0), (3, 0, 0)),
            group="orders-service",
            topic="orders",
            client_id="orders-service-a",
            committed=500,
            fetched_to=520,
            lag=20,
            commits=7,
            refused=0,
            fenced=0,
            rewinds=0,
            host="127.0.0.1",
            capture="demo",
        ),
        "in_flight": table("bucket client_id depth_max depth_mean", *flight),
        "in_flight_clients": result(
            rows("client_id depth_max", *((client, 5 - n) for n, client in enumerate(CLIENTS)))
        ),
        "outliers": table(
            "api client_id host broker count p50_ms usual_ms clients start end",
            ("Produce", HOSTILE, "10.0.0.7", 2, 300, 4900.0, 500.0, 12, at(1), at(99)),
        ),
        "lag": table(
            "bucket group topic lag",
            *((at(n), "readers", "orders", n * 10) for n in range(60)),
            *((at(n), HOSTILE, "orders", 0) for n in range(60)),
        ),
        "lag_partitions": table(
            "group topic partition lag least committed end_offset committed_ts start end",
            ("readers", "orders", 0, 400, 3, 100, 500, at(3), at(0), at(60)),
            ("readers", "orders", 1, 190, 0, 100, 290, None, at(0), at(60)),
            (HOSTILE, "orders", 0, 0, 0, 500, 500, at(59), at(0), at(60)),
        ),
        "topics": table(
            "topic access client_id user host groups partitions records bytes share start end",
            (
                "orders",
                "write",
                "orders-service-a",
                "alice",
                "h",
                None,
                2,
                80,
                8000,
                0.8,
                at(0),
                at(9),
            ),
            ("orders", "write", HOSTILE, None, "h", None, 1, 20, 2000, 0.2, at(0), at(9)),
            ("orders", "read", "payments", None, "h", "readers", 2, 0, 0, None, at(0), at(9)),
            capture="demo",
        ),
        "hot_partitions": table(
            "topic partition produced_records produced_bytes produced_requests",
            ("orders", 0, 1800, 162_000, 60),
            ("orders", 1, 900, 81_000, 30),
            ("orders", 2, 36_000, 3_240_000, 1200),
            ("payments", 0, 4500, 405_000, 150),
            (HOSTILE, 0, 2700, 243_000, 90),
            fetched_requests=60,
            fetched_records=1800,
            fetched_bytes=162_000,
            share=0.1,
        ),
        "versions": table(
            "client_id software api version removed_in listed",
            ("payments", None, "Produce", 2, "4.0", True),
            ("payments", None, "Fetch", 3, "4.0", False),
            ("orders", "librdkafka 2.8.0", "Produce", 10, None, None),
            ("orders", "librdkafka 2.8.0", "Metadata", 12, None, None),
            ("payments", None, "Metadata", 4, None, None),
            (HOSTILE, "<b>x</b>", "Fetch", 16, None, None),
            (HOSTILE, "<b>x</b>", "Fetch", 11, None, None),
            count=400,
            last_ts=at(100),
        ),
        "rules": table(
            "rule fired p50_with_ms closed",
            ("slow fetches", 62, 130.0, 0),
            ("a connection is cut", 1, None, 1),
            capture="demo",
            api="Fetch",
            p50_without_ms=1.2,
            p99_with_ms=160.0,
            p99_without_ms=2.2,
            errors_with=0,
            errors_without=0,
            without=900,
            unanswered=0,
        ),
    }


def _rebalances() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for generation, begin, until in ((1, 5.0, 50.0), (2, 50.0, 90.0), (3, 90.0, 118.0)):
        for number in range(4):
            late = number == 3 and generation == 2
            join, sync = (9.5 if late else 3.0 + number / 10), 0.2
            joined = begin + (6.0 if late else number / 5)
            ready = joined + join + sync
            found += rows(
                "phase start end",
                ("join", at(joined), at(joined + join)),
                ("sync", at(joined + join), at(ready)),
                ("consuming", at(ready), at(until)),
                group="orders-service",
                generation=generation,
                member=f"consumer-{number}-c0ffee{number}",
                client_id=CLIENTS[number],
                joined_ts=at(joined),
                join_ms=join * 1000,
                sync_ms=sync * 1000,
                late=late,
                standstill_ms=(join + sync) * 1000,
                group_standstill_ms=15_700.0 if generation == 2 else 4100.0,
                protocol="classic",
                capture="demo",
                reason="a member joined",
                began_ts=at(begin),
                members=4,
                missed=["consumer-1-c0ffee1"] if generation == 3 else [],
            )
    return found
