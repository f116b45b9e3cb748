"""Test for requests repeated without a pause."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import (
    descriptions,
    evidence_packets,
    exchange,
    findings_of,
    produce,
)

RETRIED = (
    "warning",
    "FindCoordinator was retried 3 times in a row after COORDINATOR_NOT_AVAILABLE, the last "
    "time 2 ms after the error",
)


def coordinator(at: float, error: int = 15, *, group: str = "g", **more: Any) -> Exchange:
    answer = {"error_code": error, "node_id": -1, "host": "", "port": -1}
    return exchange("FindCoordinator", 0, {"key": group}, answer, at=at, **more)


def tries(pause: float, count: int, **more: Any) -> list[Exchange]:
    """Make equal requests, each `pause` ms after the response to the one before."""
    return [coordinator(1 + number * (1 + pause), **more) for number in range(count)]


def connecting(
    pause: float, count: int, *, opened: float = 0.5, host: str = "10.1.1.1", first: int = 1
) -> list[Exchange]:
    """Each try on a connection of its own, which begins `opened` ms before it."""
    findings_of = []
    for number in range(count):
        at = 1 + number * (1 + pause)
        where: dict[str, Any] = {"connection": first + number, "host": host}
        offered = {"error_code": 0, "api_keys": []}
        findings_of += [
            exchange("ApiVersions", 0, {}, offered, at=at - opened, took=opened / 2, **where),
            coordinator(at, **where),
        ]
    return findings_of


def asked(at: float, connection: int) -> Exchange:
    """Make a Metadata for a topic that does not exist."""
    answer = {"topics": [{"error_code": 3, "name": "t", "partitions": []}]}
    where: dict[str, Any] = {"connection": connection, "host": "10.1.1.1"}
    return exchange("Metadata", 1, {"topics": [{"name": "t"}]}, answer, at=at, **where)


def hosts() -> list[Exchange]:
    """Three clients by turns, each on a host of its own."""
    by_host = [connecting(2, 9, host=f"10.1.1.{n}", first=n * 9) for n in range(3)]
    return [by_host[number % 3][number] for number in range(18)]


def test_a_producer_that_gives_its_records_new_timestamps_retries_them() -> None:
    hasty = [produce(1 + 3 * n, ["a"], error=6, stamp=n) for n in range(4)]
    assert len(findings_of("backoff", *hasty)) == 1
    others = [produce(1 + 3 * n, [str(n)], error=6, stamp=0) for n in range(4)]
    assert findings_of("backoff", *others) == []


def test_three_retries_without_a_pause() -> None:
    findings = findings_of("backoff", *tries(2, 4))
    assert descriptions(findings) == [RETRIED]
    assert evidence_packets(findings) == [[(11, 12), (101, 102)]]


CASES = {
    "two retries": (0, tries(2, 3)),
    "retries in the same nanosecond": (1, tries(0, 4)),
    "said once": (1, tries(2, 40)),
    **{f"{pause} ms are enough": (0, tries(pause, 9)) for pause in (10, 20, 100)},
    "groups": (0, [coordinator(1 + n * 3, group=f"g{n}") for n in range(9)]),
    "connections": (0, [coordinator(1 + n * 3, connection=n) for n in range(9)]),
    "what works": (0, tries(2, 9, error=0)),
    "what can't be retried": (0, tries(2, 9, error=30)),
    "pause in between": (0, [*tries(2, 3), *(coordinator(500 + n * 3) for n in range(3))]),
    "two retries on new connections": (0, connecting(2, 3)),
    "a pause and a new connection": (0, connecting(20, 9)),
    "from connection to connection and on the same ones": (
        1, [*connecting(2, 3), *(coordinator(10 + n * 3, connection=3, host="10.1.1.1") for n in range(9))],
    ),
    # so are several clients with one name on one host
    "connections that were there before": (0, connecting(2, 9, opened=2.5)),
    "hosts": (0, hosts()),
    "clients of a host": (
        0, [coordinator(1 + n * 3, connection=n, host="h", client=f"c{n}") for n in range(9)],
    ),
    "Metadata of each broker": (0, [asked(1 + n * 3, n) for n in range(9)]),
    "Metadata of one broker": (1, [asked(1 + n * 3, 1) for n in range(9)]),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "exchanges"), CASES.values(), ids=CASES)
def test_how_often_it_is_found(findings: int, exchanges: list[Exchange]) -> None:
    assert len(findings_of("backoff", *exchanges)) == findings


def test_the_least_pause_and_the_times_can_be_set() -> None:
    assert len(findings_of("backoff", *tries(30, 9), least_ms=50.0)) == 1
    assert findings_of("backoff", *tries(2, 9), times=20) == []
