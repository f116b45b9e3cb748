"""The same request again and again without a pause."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import exchange, found, frames, whats


def coordinator(at: float, error: int = 15, *, group: str = "g", **more: Any) -> Exchange:
    answer = {"error_code": error, "node_id": -1, "host": "", "port": -1}
    return exchange("FindCoordinator", 0, {"key": group}, answer, at=at, **more)


def tries(pause: float, count: int, **more: Any) -> list[Exchange]:
    """The same request, each `pause` ms behind the response to the one before."""
    return [coordinator(1 + number * (1 + pause), **more) for number in range(count)]


def test_three_retries_without_a_pause() -> None:
    findings = found("backoff", *tries(2, 4))
    assert whats(findings) == [
        (
            "warning",
            "FindCoordinator was retried 3 times in a row after COORDINATOR_NOT_AVAILABLE, the last "
            "time 2 ms after the error",
        )
    ]
    assert frames(findings) == [[(11, 12), (101, 102)]]
    assert found("backoff", *tries(2, 3)) == []


def test_it_is_said_once() -> None:
    assert len(found("backoff", *tries(2, 40))) == 1


@pytest.mark.parametrize("pause", [10, 20, 100])
def test_a_pause_is_enough(pause: float) -> None:
    assert found("backoff", *tries(pause, 9)) == []


def test_the_least_pause_and_the_times_can_be_set() -> None:
    assert len(found("backoff", *tries(30, 9), least_ms=50.0)) == 1
    assert found("backoff", *tries(2, 9), times=20) == []


def test_other_requests_in_between_are_others() -> None:
    groups = [coordinator(1 + number * 3, group=f"g{number}") for number in range(9)]
    assert found("backoff", *groups) == []
    connections = [coordinator(1 + number * 3, connection=number) for number in range(9)]
    assert found("backoff", *connections) == []


def test_what_works_or_can_not_be_retried_is_asked_as_often_as_one_likes() -> None:
    assert found("backoff", *tries(2, 9, error=0)) == []
    assert found("backoff", *tries(2, 9, error=30)) == []


def test_a_pause_in_between_begins_anew() -> None:
    later = [coordinator(500 + number * 3) for number in range(3)]
    assert found("backoff", *tries(2, 3), *later) == []


def connecting(
    pause: float, count: int, *, opened: float = 0.5, host: str = "10.1.1.1", first: int = 1
) -> list[Exchange]:
    """Each try on a connection of its own, which begins `opened` ms before it."""
    found = []
    for number in range(count):
        at = 1 + number * (1 + pause)
        where: dict[str, Any] = {"connection": first + number, "host": host}
        offered = {"error_code": 0, "api_keys": []}
        found += [
            exchange("ApiVersions", 0, {}, offered, at=at - opened, took=opened / 2, **where),
            coordinator(at, **where),
        ]
    return found


def test_a_new_connection_is_no_pause() -> None:
    findings = found("backoff", *connecting(2, 4))
    assert whats(findings) == [
        (
            "warning",
            "FindCoordinator was retried 3 times in a row after COORDINATOR_NOT_AVAILABLE, the last "
            "time 2 ms after the error",
        )
    ]
    assert [one.connection for one in findings[0].evidence] == [1, 4]
    assert found("backoff", *connecting(2, 3)) == []
    assert found("backoff", *connecting(20, 9)) == []


def test_from_connection_to_connection_and_on_the_same_ones() -> None:
    moves = connecting(2, 3)
    stays = [coordinator(10 + number * 3, connection=3, host="10.1.1.1") for number in range(9)]
    assert len(found("backoff", *moves, *stays)) == 1


def test_connections_that_were_there_before_are_of_others() -> None:
    """So are several clients with one name on one host."""
    assert found("backoff", *connecting(2, 9, opened=2.5)) == []


def test_hosts_and_clients_have_their_own() -> None:
    hosts = [connecting(2, 9, host=f"10.1.1.{number}", first=number * 9) for number in range(3)]
    assert found("backoff", *(hosts[number % 3][number] for number in range(18))) == []
    names = [coordinator(1 + n * 3, connection=n, host="h", client=f"c{n}") for n in range(9)]
    assert found("backoff", *names) == []


def test_metadata_is_asked_of_each_broker_that_a_client_comes_to() -> None:
    partitions = {"error_code": 3, "name": "t", "is_internal": False, "partitions": []}
    answer = {"brokers": [], "controller_id": 1, "topics": [partitions]}

    def asked(at: float, connection: int) -> Exchange:
        where: dict[str, Any] = {"connection": connection, "host": "10.1.1.1"}
        return exchange("Metadata", 1, {"topics": [{"name": "t"}]}, answer, at=at, **where)

    assert found("backoff", *(asked(1 + number * 3, number) for number in range(9))) == []
    assert len(found("backoff", *(asked(1 + number * 3, 1) for number in range(9)))) == 1
