"""Test for requests to a broker that is neither leader nor preferred read replica."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.checks.leaders import MOST
from barnabas.captures.checks.partitions import by_follower
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import (
    S,
    descriptions,
    evidence_packets,
    exchange,
    findings_of,
    produce,
)

NOT_LEADER = 6
NODES = {1: "10.9.0.1", 2: "10.9.0.2"}
FIRST: dict[str, Any] = {"broker": None, "server": "10.9.0.1:9092"}


def metadata(
    at: float,
    leader: int,
    epoch: int | None = 5,
    brokers: dict[int, str] | None = None,
    **more: Any,
) -> Exchange:
    """Make a Metadata of orders[0]; epoch None: v1, which has no epoch."""
    partition = {"error_code": 0, "partition_index": 0, "leader_id": leader, "leader_epoch": epoch}
    if epoch is None:
        del partition["leader_epoch"]
    topic = {"error_code": 0, "name": "orders", "partitions": [partition]}
    named = [{"node_id": one, "host": host, "port": 9092} for one, host in (brokers or {}).items()]
    answer = {"brokers": named, "topics": [topic]}
    version = 1 if epoch is None else 7
    return exchange("Metadata", version, {"topics": None}, answer, at=at, **more)


def fetch(
    at: float,
    *,
    epoch: int = -1,
    error: int | None = 0,
    preferred: int = -1,
    replica: int = -1,
    **more: Any,
) -> Exchange:
    """Make a Fetch of orders[0]; error None: no response."""
    asked = {"partition": 0, "current_leader_epoch": epoch, "fetch_offset": 7}
    answer = {
        "partition_index": 0,
        "error_code": error,
        "high_watermark": 9,
        "preferred_read_replica": preferred,
        "records": b"",
    }
    request = {"replica_id": replica, "topics": [{"topic": "orders", "partitions": [asked]}]}
    response = {"error_code": 0, "responses": [{"topic": "orders", "partitions": [answer]}]}
    return exchange("Fetch", 11, request, None if error is None else response, at=at, **more)


def refused(*seconds: int, **more: Any) -> list[Exchange]:
    return [produce(at * S, ["a"], error=NOT_LEADER, **more) for at in seconds]


def list_offsets(at: float) -> Exchange:
    """Make a rejected ListOffsets of orders[0]."""
    asked = {"partition_index": 0, "timestamp": -1}
    answer = {"partition_index": 0, "error_code": NOT_LEADER, "timestamp": -1, "offset": -1}
    request = {"replica_id": -1, "topics": [{"name": "orders", "partitions": [asked]}]}
    return exchange(
        "ListOffsets", 1, request, {"topics": [{"name": "orders", "partitions": [answer]}]}, at=at
    )


TOLD = metadata(0, 2)
FETCH = fetch(3 * S, epoch=5)
NAMED = metadata(0, 2, brokers=NODES, broker=None)
HINT = {"current_leader": {"leader_id": 2, "leader_epoch": 8}}
NEWS = (metadata(0, 1, epoch=6), metadata(1, 2, epoch=5, broker=3))
MOVES = [
    one
    for n in range(5)
    for one in (metadata(n * S, 2 + n % 2, epoch=n), produce(n * S + 500, ["a"], error=NOT_LEADER))
]

CASES = {
    "the leader is asked": (0, [metadata(0, 1), fetch(2 * S, epoch=5), produce(3 * S, ["a"])]),
    "no leader is known": (0, [metadata(0, -1), FETCH]),
    "another epoch": (0, [TOLD, fetch(3 * S, epoch=6)]),
    "no epoch": (0, [TOLD, fetch(3 * S)]),
    "never answered": (0, [TOLD, fetch(3 * S, epoch=5, error=None)]),
    "still under way": (0, [TOLD, fetch(0.9 * S, epoch=5)]),
    "told a second before": (0, [TOLD, fetch(S + 1, epoch=5)]),
    "told longer before": (1, [TOLD, fetch(S + 2, epoch=5)]),
    "preferred": (0, [TOLD, fetch(1 * S, epoch=5, preferred=1, broker=2), FETCH]),
    "broker 0 is preferred": (
        0, [TOLD, fetch(1 * S, epoch=5, preferred=0, broker=2), fetch(3 * S, epoch=5, broker=0)]
    ),
    "another one is preferred": (1, [TOLD, fetch(1 * S, epoch=5, preferred=3, broker=2), FETCH]),
    "more are preferred than are remembered": (
        1,
        [
            *(TOLD, *(fetch(1 * S + n, preferred=n + 10, broker=2) for n in range(MOST + 1))),
            fetch(3 * S, epoch=5, broker=10),
        ],
    ),
    "as many are preferred as are remembered": (
        0,
        [
            *(TOLD, fetch(1 * S, broker=2)),
            *(fetch(1 * S + 1 + n, preferred=n + 10, broker=2) for n in range(MOST)),
            fetch(3 * S, epoch=5, broker=10),
        ],
    ),
    "refused elsewhere than in Produce and Fetch": (0, [TOLD, *(list_offsets(n * S) for n in (2, 3, 4))]),
    "refused twice": (0, [TOLD, *refused(2, 3)]),
    "refused but not told": (0, refused(2, 3, 4, 5)),
    "a leader that moves": (0, MOVES),
    # of a broker that is behind
    "old Metadata is not believed": (0, [*NEWS, fetch(3 * S, epoch=6)]),
    "old Metadata and refusals": (0, [*NEWS, *refused(2, 3, 4)]),
    "without epochs the latest Metadata is believed": (
        1, [metadata(0, 1, None), metadata(1, 2, None), *refused(2, 3, 4)]
    ),
    "who takes records leads": (0, [TOLD, produce(2 * S, ["a"]), *refused(3, 4, 5)]),
    "a hint in a refusal": (
        1, [produce(0, ["a"], error=NOT_LEADER, version=10, answer=HINT), *refused(2, 3, 4, version=10)],
    ),
    "a follower": (0, [TOLD, fetch(3 * S, epoch=5, replica=3)]),
    "an unknown broker": (0, [TOLD, fetch(3 * S, epoch=5, broker=None)]),
    "another client was told": (0, [metadata(0, 2, client="other"), FETCH]),
    "the leader by its address": (0, [NAMED, fetch(3 * S, epoch=5, broker=None, server="10.9.0.2:9092")]),
    "no address is known": (0, [metadata(0, 2, broker=None), fetch(3 * S, epoch=5, **FIRST)]),
    "another address": (
        0,
        [
            metadata(0, 2, brokers={1: "kafka-1.example.org", 2: "10.9.0.2"}, broker=None),
            fetch(3 * S, epoch=5, **FIRST),
        ],
    ),
    "another port": (0, [NAMED, fetch(3 * S, epoch=5, broker=None, server="10.9.0.1:9093")]),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "exchanges"), CASES.values(), ids=CASES)
def test_how_often_it_is_found(findings: int, exchanges: list[Exchange]) -> None:
    assert len(findings_of("leaders", *exchanges)) == findings


@pytest.mark.parametrize(("replica", "follows"), [(0, True), (2, True), (-1, False)])
def test_a_fetch_is_by_a_follower_if_it_has_a_brokers_id(replica: int, follows: bool) -> None:
    assert by_follower({"replica_id": replica}) == follows
    assert by_follower({"replica_state": {"replica_id": replica}}) == follows


KNEW = (
    "orders[0]: broker 1 was sent Fetch by a client that knew leader epoch 5, told 3 s "
    "before that broker 2 is the leader"
)
REJECTED = "orders[0]: broker 1 rejected 3 requests of a client told 4 s before that broker 2 is the leader"


def test_a_client_that_knew_the_leader_of_the_epoch_it_names() -> None:
    findings = findings_of("leaders", TOLD, fetch(3 * S + 1, epoch=5))
    assert descriptions(findings) == [("warning", KNEW)]
    assert evidence_packets(findings) == [[(1, 2), (30011, 30012)]]


def test_the_grace_can_be_set() -> None:
    assert len(findings_of("leaders", TOLD, fetch(0.9 * S, epoch=5), grace_ms=500.0)) == 1


def test_in_a_capture_of_others_a_broker_is_known_by_its_address() -> None:
    findings = findings_of(
        "leaders", NAMED, fetch(3 * S + 1, epoch=5, **FIRST), *refused(2, 3, 4, **FIRST)
    )
    assert descriptions(findings) == [("warning", KNEW), ("warning", REJECTED)]
