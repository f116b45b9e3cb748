"""Requests to a broker that neither leads nor is preferred for reading."""

from __future__ import annotations

import copy
from typing import Any

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import exchange, found, frames, produce, whats

NOT_LEADER = 6
S = 1000.0


def metadata(
    at: float,
    leader: int,
    epoch: int = 5,
    brokers: dict[int, str] | None = None,
    cluster: str | None = None,
    **more: Any,
) -> Exchange:
    partition = {
        "error_code": 0,
        "partition_index": 0,
        "leader_id": leader,
        "leader_epoch": epoch,
        "replica_nodes": [1, 2],
        "isr_nodes": [1, 2],
        "offline_replicas": [],
    }
    topic = {"error_code": 0, "name": "orders", "is_internal": False, "partitions": [partition]}
    named = [
        {"node_id": node, "host": host, "port": 9092} for node, host in (brokers or {}).items()
    ]
    answer = {"brokers": named, "cluster_id": cluster, "topics": [topic]}
    return exchange("Metadata", 7, {"topics": None}, answer, at=at, **more)


def fetch(
    at: float,
    *,
    epoch: int = -1,
    error: int = 0,
    preferred: int = -1,
    replica: int = -1,
    **more: Any,
) -> Exchange:
    asked = {
        "partition": 0,
        "current_leader_epoch": epoch,
        "fetch_offset": 7,
        "partition_max_bytes": 99,
    }
    answer = {
        "partition_index": 0,
        "error_code": error,
        "high_watermark": 9,
        "aborted_transactions": [],
        "preferred_read_replica": preferred,
        "records": b"",
    }
    request = {
        "replica_id": replica,
        "max_wait_ms": 500,
        "min_bytes": 1,
        "isolation_level": 0,
        "session_id": 0,
        "topics": [{"topic": "orders", "partitions": [asked]}],
        "forgotten_topics_data": [],
        "rack_id": "",
    }
    response = {
        "throttle_time_ms": 0,
        "error_code": 0,
        "session_id": 0,
        "responses": [{"topic": "orders", "partitions": [answer]}],
    }
    return exchange("Fetch", 11, request, response, at=at, **more)


def test_the_leader_is_asked() -> None:
    assert found("leaders", metadata(0, 1), fetch(2 * S, epoch=5), produce(3 * S, ["a"])) == []


def test_a_client_that_knew_the_leader_of_the_epoch_it_names() -> None:
    findings = found("leaders", metadata(0, 2), fetch(3 * S + 1, epoch=5))
    assert whats(findings) == [
        (
            "warning",
            "orders[0]: broker 1 was sent Fetch by a client that knew leader epoch 5, told 3 s "
            "before that broker 2 is the leader",
        )
    ]
    assert frames(findings) == [[(1, 2), (30011, 30012)]]


def test_an_epoch_that_it_was_told_elsewhere_says_nothing() -> None:
    assert found("leaders", metadata(0, 2), fetch(3 * S, epoch=6)) == []
    assert found("leaders", metadata(0, 2), fetch(3 * S, epoch=-1)) == []


def test_right_behind_the_metadata_requests_are_still_under_way() -> None:
    assert found("leaders", metadata(0, 2), fetch(0.9 * S, epoch=5)) == []
    assert len(found("leaders", metadata(0, 2), fetch(0.9 * S, epoch=5), grace_ms=500.0)) == 1


def test_the_preferred_read_replica_may_be_asked() -> None:
    told = fetch(1 * S, epoch=5, preferred=1, broker=2)
    assert found("leaders", metadata(0, 2), told, fetch(3 * S, epoch=5)) == []
    told = fetch(1 * S, epoch=5, preferred=3, broker=2)
    assert len(found("leaders", metadata(0, 2), told, fetch(3 * S, epoch=5))) == 1


def test_refused_three_times_though_it_was_told() -> None:
    refused = [produce(n * S, ["a"], error=NOT_LEADER) for n in (2, 3, 4, 5)]
    findings = found("leaders", metadata(0, 2), *refused)
    assert whats(findings) == [
        (
            "warning",
            "orders[0]: broker 1 rejected 3 requests of a client told 4 s before that broker 2 "
            "is the leader",
        )
    ]
    assert found("leaders", metadata(0, 2), *refused[:2]) == []
    assert found("leaders", *refused) == []


def test_refusals_with_a_fresh_metadata_in_between_are_a_leader_that_moves() -> None:
    moves = [
        one
        for n in range(5)
        for one in (
            metadata(n * S, 2 + n % 2, epoch=n),
            produce(n * S + 500, ["a"], error=NOT_LEADER),
        )
    ]
    assert found("leaders", *moves) == []


def test_metadata_of_a_broker_that_is_behind_is_not_believed() -> None:
    news = (metadata(0, 1, epoch=6), metadata(1, 2, epoch=5, broker=3))
    assert found("leaders", *news, fetch(3 * S, epoch=6)) == []
    refused = [produce(n * S, ["a"], error=NOT_LEADER) for n in (2, 3, 4)]
    assert found("leaders", *news, *refused) == []


def test_who_takes_records_leads() -> None:
    refused = [produce(n * S, ["a"], error=NOT_LEADER) for n in (3, 4, 5)]
    assert found("leaders", metadata(0, 2), produce(2 * S, ["a"]), *refused) == []


def test_a_hint_in_a_refusal_is_as_good_as_metadata() -> None:
    hint = produce(0, ["a"], error=NOT_LEADER, version=10)
    body = copy.deepcopy(hint.response or {})
    body["responses"][0]["partition_responses"][0]["current_leader"] = {
        "leader_id": 2,
        "leader_epoch": 8,
    }
    hinted = exchange("Produce", 10, hint.request, body, at=0)
    refused = [produce(n * S, ["a"], error=NOT_LEADER, version=10) for n in (2, 3, 4)]
    assert len(found("leaders", hinted, *refused)) == 1


def test_followers_and_brokers_of_unknown_id_are_let_alone() -> None:
    assert found("leaders", metadata(0, 2), fetch(3 * S, epoch=5, replica=3)) == []
    assert found("leaders", metadata(0, 2), fetch(3 * S, epoch=5, broker=None)) == []


def test_what_another_client_was_told_does_not_count() -> None:
    assert found("leaders", metadata(0, 2, client="other"), fetch(3 * S, epoch=5)) == []


NODES = {1: "10.9.0.1", 2: "10.9.0.2"}
FIRST: dict[str, Any] = {"broker": None, "server": "10.9.0.1:9092"}


def test_in_a_capture_of_others_a_broker_is_known_by_its_address() -> None:
    told = metadata(0, 2, brokers=NODES, broker=None)
    refused = [produce(n * S, ["a"], error=NOT_LEADER, **FIRST) for n in (2, 3, 4)]
    findings = found("leaders", told, fetch(3 * S, epoch=5, **FIRST), *refused)
    assert [
        what.partition(" by a client")[0].partition(" told")[0] for _, what in whats(findings)
    ] == [
        "orders[0]: broker 1 was sent Fetch",
        "orders[0]: broker 1 rejected 3 requests of a client",
    ]
    second = {**FIRST, "server": "10.9.0.2:9092"}
    assert found("leaders", told, fetch(3 * S, epoch=5, **second)) == []
    assert found("leaders", metadata(0, 2, broker=None), fetch(3 * S, epoch=5, **FIRST)) == []


def test_under_another_address_nobody_knows_which_broker_it_is() -> None:
    told = metadata(0, 2, brokers={1: "kafka-1.example.org", 2: "10.9.0.2"}, broker=None)
    assert found("leaders", told, fetch(3 * S, epoch=5, **FIRST)) == []
    other_port = {**FIRST, "server": "10.9.0.1:9093"}
    told = metadata(0, 2, brokers=NODES, broker=None)
    assert found("leaders", told, fetch(3 * S, epoch=5, **other_port)) == []
