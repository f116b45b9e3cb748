"""The client against the embedded cluster, which takes v0, and against a broker that misbehaves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from barnabas.designs.protocol_guide.client_0_8 import Client, Message, Produced, Unreachable
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.specs import Frame, encode_frame
from barnabas.specs.frames import request_head
from barnabas.specs.keys import METADATA, PRODUCE
from tests.designs.scripted import ScriptedBroker
from tests.designs.waiting import LIMIT

pytest.importorskip("confluent_kafka")


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(3, topics={"orders": 6}) as running:
        yield running


def test_messages_go_to_their_leaders_and_come_back(cluster: EmbeddedCluster) -> None:
    sets = {("orders", number): [Message(b"k", b"%d" % number)] for number in range(6)}
    with Client([cluster.brokers[1]]) as client:
        assert client.produce(sets, acks=-1) == {place: Produced(0, 0) for place in sets}
        assert len(set(client.cluster.leaders.values())) > 1
        found = client.fetch(dict.fromkeys(sets, 0))
    assert {place: got.messages for place, got in found.items()} == {
        place: ((0, sent[0]),) for place, sent in sets.items()
    }


def test_a_partition_that_is_not_there_is_unknown(cluster: EmbeddedCluster) -> None:
    with Client(cluster.brokers.values(), patience=0) as client:
        assert client.produce({("orders", 77): [Message(None, b"a")]})["orders", 77].error == 3


def test_a_cluster_that_is_not_there_is_unreachable() -> None:
    with ScriptedBroker(lambda _: None) as broker:
        gone = broker.address
    with Client([gone], patience=0) as client, pytest.raises(Unreachable, match=str(gone[1])):
        client.refresh(["a"])


def led_by(address: tuple[str, int], correlation_id: int, error: int = 0) -> bytes:
    part = {"error_code": 0, "partition_index": 0, "leader_id": 1, "replica_nodes": []}
    body = {
        "brokers": [{"node_id": 1, "host": address[0], "port": address[1]}],
        "topics": [{"error_code": error, "name": "a", "partitions": [] if error else [part]}],
    }
    return encode_frame(Frame("response", METADATA, 0, {"correlation_id": correlation_id}, body))


def produced(correlation_id: int, error: int) -> bytes:
    part = {"index": 0, "error_code": error, "base_offset": -1 if error else 4}
    body = {"responses": [{"name": "a", "partition_responses": [part]}]}
    return encode_frame(Frame("response", PRODUCE, 0, {"correlation_id": correlation_id}, body))


@pytest.mark.parametrize("stale", [3, 5, 6])
def test_a_stale_leader_is_looked_for_again(stale: int) -> None:
    errors = [stale, 0]

    def reply(request: bytes) -> bytes:
        head = request_head(request, 0, len(request))
        if head.key == METADATA:
            return led_by(broker.address, head.correlation_id)
        return produced(head.correlation_id, errors.pop(0))

    with ScriptedBroker(reply) as broker, Client([broker.address]) as client:
        assert client.produce({("a", 0): [Message(None, b"v")]}) == {("a", 0): Produced(0, 4)}
    asked = [request_head(one, 0, len(one)).key for one in broker.requests]
    assert asked == [METADATA, PRODUCE, METADATA, PRODUCE]


def test_other_errors_are_given_as_they_are() -> None:
    def reply(request: bytes) -> bytes:
        head = request_head(request, 0, len(request))
        if head.key == METADATA:
            return led_by(broker.address, head.correlation_id)
        return produced(head.correlation_id, 10)

    with ScriptedBroker(reply) as broker, Client([broker.address]) as client:
        assert client.produce({("a", 0): [Message(None, b"v")]}) == {("a", 0): Produced(10, -1)}
    assert len(broker.requests) == 2


def test_a_lost_connection_is_made_again() -> None:
    hang_up = [True]

    def reply(request: bytes) -> bytes | None:
        head = request_head(request, 0, len(request))
        if head.key == METADATA:
            return led_by(broker.address, head.correlation_id)
        return None if hang_up and hang_up.pop() else produced(head.correlation_id, 0)

    with ScriptedBroker(reply) as broker, Client([broker.address]) as client:
        assert client.produce({("a", 0): [Message(None, b"v")]}) == {("a", 0): Produced(0, 4)}


def test_without_acknowledgement_nobody_answers() -> None:
    # the embedded cluster answers these too, against the protocol: so not there
    def reply(request: bytes) -> bytes:
        head = request_head(request, 0, len(request))
        if head.key == METADATA:
            return led_by(broker.address, head.correlation_id)
        return b"" if head.acks == 0 else produced(head.correlation_id, 0)

    with ScriptedBroker(reply) as broker, Client([broker.address]) as client:
        assert client.produce({("a", 0): [Message(None, b"v")]}, acks=0) == {}
        assert client.produce({("a", 0): [Message(None, b"v")]}) == {("a", 0): Produced(0, 4)}
    assert [request_head(one, 0, len(one)).acks for one in broker.requests] == [None, 0, 1]


def test_no_leader_is_the_error_of_metadata() -> None:
    def reply(request: bytes) -> bytes:
        head = request_head(request, 0, len(request))
        return led_by(broker.address, head.correlation_id, error=5)

    with ScriptedBroker(reply) as broker, Client([broker.address], patience=0) as client:
        assert client.produce({("a", 0): [Message(None, b"v")]}) == {("a", 0): Produced(5, -1)}


def test_a_cluster_that_is_away_for_a_moment_is_asked_again() -> None:
    asked: list[int] = []

    def reply(request: bytes) -> bytes | None:
        head = request_head(request, 0, len(request))
        asked.append(head.key)
        if len(asked) in (2, 3):
            return None
        if head.key == METADATA:
            return led_by(broker.address, head.correlation_id)
        return produced(head.correlation_id, 0)

    with ScriptedBroker(reply) as broker, Client([broker.address], patience=LIMIT) as client:
        assert client.produce({("a", 0): [Message(None, b"v")]})["a", 0].error == 0
    assert asked == [METADATA, PRODUCE, METADATA, PRODUCE]
