"""What the experiments with the pipelined producer say follows from their figures."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.pipelined_producer.experiments import handlers as pipelined_handlers
from barnabas.designs.pipelined_producer.experiments import java as pipelined_java
from barnabas.designs.pipelined_producer.experiments import metadata as pipelined_metadata
from barnabas.designs.pipelined_producer.experiments import serializing as pipelined_serializing
from barnabas.proxy.scenario.file import loads


def metadata_runs() -> dict[str, Any]:
    runs: list[dict[str, Any]] = [
        {
            "case": case,
            "latency": latency,
            "arm": arm,
            "first_ms": None if case == pipelined_metadata.LEADERLESS else 9.0 + latency + number,
            "before_ms": 2.0,
            "median_ms": 1.0,
            "slowest_ms": 3.0 + (latency + number if choice == "blocking" else 0),
            "silence_ms": 4.0 + (latency if choice == "blocking" else 0),
            "problems": {},
        }
        for case in pipelined_metadata.CASES
        for latency in (0, 100)
        for arm, choice in pipelined_metadata.ARMS
        for number in range(3)
    ]
    return {"how": {"latencies": [0, 100], "rounds": 3}, "runs": runs}


def test_metadata_are_compared_by_what_known_topics_wait() -> None:
    text = pipelined_metadata.write(metadata_runs())
    new, _, leaderless = text.split("\n## ")[1:]
    assert "| 100 ms | synchronous | 110 (109-111) | 1 (1-1) | 2 (2-2) | 104 (103-105) |" in new
    assert (
        "| 100 ms | non-blocking | 110 (109-111) | 1 (1-1) | 2 (2-2) | 3 (3-3) | 4 (4-4) |" in new
    )
    assert "At 100 ms the slowest message of a known topic waits 104 ms with the synchronous" in new
    assert "| 0 ms | synchronous | none | 1 (1-1) |" in leaderless
    (plot,) = pipelined_metadata.drawn(metadata_runs()).values()
    assert plot.count("<circle") == 36


@pytest.mark.parametrize("case", pipelined_metadata.CASES)
@pytest.mark.parametrize("latency", [0, 100])
def test_each_case_has_rules_that_can_be(case: str, latency: int) -> None:
    rules = loads(pipelined_metadata.scenario(case, latency)).rules
    assert len(rules) == bool(latency or case == pipelined_metadata.LEADERLESS)


def test_metadata_without_a_message_before_are_no_basis() -> None:
    with pytest.raises(ValueError, match="empty"):
        pipelined_metadata.stalls([pipelined_metadata.Ack(1.0, 2.0)], 0.5)


def handlers_runs() -> dict[str, Any]:
    runs = [
        {
            "version": version,
            "case": case,
            "arm": arm,
            "messages": 40,
            "seconds": 2.0 / (connections if acks < 0 else in_flight * connections),
            "in_flight": in_flight,
        }
        for version in pipelined_handlers.VERSIONS
        for case, acks, _ in pipelined_handlers.CASES
        for arm, in_flight, connections in pipelined_handlers.ARMS
    ]
    beside = [
        {"version": version, "connections": connections, "quick": quick, "slow": 50.0}
        for version in pipelined_handlers.VERSIONS
        for connections, quick in ((1, 51.0), (2, 1.0))
    ]
    return {"how": {"messages": 40, "rounds": 1}, "runs": runs, "beside": beside}


def test_handlers_are_told_by_what_is_gained_where_time_is_spent() -> None:
    text = pipelined_handlers.write(handlers_runs())
    alone = "20 (20-20)"
    assert f"| the way back takes it | {alone} | 100 (100-100) | 100 (100-100) | 1, 5, 1 |" in text
    assert (
        f"| {pipelined_handlers.AT_BROKER} | {alone} | {alone} | 100 (100-100) | 1, 5, 1 |" in text
    )
    assert (
        "Acks=all, followers come late: 1.0 times (5 in flight, 1 connection), "
        "5.0 times (1 in flight, 5 connections)." in text
    )
    assert "answered after 51 (51-51) ms on the same connection (the slow one after 50" in text
    assert "after 1 (1-1) ms on a connection of its own" in text
    assert set(pipelined_handlers.drawn(handlers_runs())) == set(pipelined_handlers.VERSIONS)


@pytest.mark.parametrize("scenario", [scenario for *_, scenario in pipelined_handlers.CASES])
def test_each_place_has_rules_that_can_be(scenario: str) -> None:
    rules = loads(scenario).rules
    assert [rule.name for rule in rules] == ["slow"] * len(rules)


def serializing_runs() -> dict[str, Any]:
    runs = [
        {
            "case": case,
            "arm": arm,
            "send_us": 100.0 + 400 * (arm == "client thread"),
            "send_99_us": 900.0,
            "messages": 100,
            "seconds": 0.5 if arm == "client thread" else 1.0,
            "sent": 0.25,
            "problems": {},
        }
        for case, *_ in pipelined_serializing.CASES
        for arm in pipelined_serializing.ARMS
    ]
    alone = [{"case": case, "us": 50.4} for case, *_ in pipelined_serializing.CASES]
    how = {"paced": 50, "burst": 100, "rounds": 1, "partitions": 4}
    return {"how": how, "runs": runs, "alone": alone}


def test_serialising_is_told_by_what_send_costs_and_a_burst_moves() -> None:
    text = pipelined_serializing.write(serializing_runs())
    assert (
        "| bytes as they are | 50 | client thread | 500 (500-500) | 900 (900-900) | 200 (200-200) "
        "| 250 (250-250) |" in text
    )
    assert "in the client's thread send() takes +400 µs, and a burst moves 2.00 times" in text
    (plot,) = pipelined_serializing.drawn(serializing_runs()).values()
    assert plot.count("<circle") == 6


def test_a_serialiser_s_cost_is_that_of_its_work() -> None:
    assert pipelined_serializing.cost(
        b"", lambda _: bytes(1 << 22)
    ) > 2 * pipelined_serializing.cost(b"", lambda _: b"")


def java_runs() -> dict[str, Any]:
    runs = [
        {
            "latency": latency,
            "arm": arm,
            "messages": 100,
            "seconds": 0.5 if arm == pipelined_java.JAVA else 1.0 + latency / 20,
            "requests": 4,
            "in_flight": 5,
        }
        for arm, _ in pipelined_java.ARMS
        for latency in (0, 20)
    ]
    how = {"latencies": [0, 20], "messages": 100, "rounds": 1, "partitions": 4, "batch": 10}
    return {"how": how, "runs": runs}


def test_java_is_held_against_the_document_s_producers() -> None:
    text = pipelined_java.write(java_runs())
    assert "| blocking 0.8 | 100 (100-100) | 50 (50-50) | 5 | 25 |" in text
    assert "| Java, 5 in flight | 200 (200-200) | 200 (200-200) | 5 | 25 |" in text
    assert (
        "At 20 ms Java's producer moves 4.0 times as many messages as the pipelined one with as many in "
        "flight, 1.0 times as many with its defaults. Against the blocking one: 1.0 times (pipelined), 4.0 "
        "times (Java)." in text
    )
    (plot,) = pipelined_java.drawn(java_runs()).values()
    assert plot.count("<circle") == 2 * len(pipelined_java.ARMS)
