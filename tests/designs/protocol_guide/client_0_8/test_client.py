"""The client against the embedded cluster, which takes v0, and against a broker that misbehaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from barnabas.designs.dialogue import Dialogue
from barnabas.designs.protocol_guide.client_0_8 import (
    EARLIEST,
    Client,
    Message,
    Produced,
    Unreachable,
)
from barnabas.designs.protocol_guide.client_0_8 import client as client_0_8
from barnabas.fuzz.bench_broker.broker import Broker as BenchBroker
from barnabas.fuzz.bench_broker.broker import Connection as BenchConnection
from barnabas.fuzz.bench_broker.cluster import TOPIC
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.specs import Frame, encode_frame
from barnabas.specs.frames import request_head
from barnabas.specs.keys import METADATA, PRODUCE
from tests.designs.scripted import ScriptedBroker
from tests.designs.test_fuzzed import damaged
from tests.waiting import SOON

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


AWAY = b"away"
"""It hangs up whatever is asked."""


@contextmanager
def answering(*answers: int | bytes | None, metadata: int = 0) -> Iterator[ScriptedBroker]:
    """A broker that answers Produce requests in turn: by an error, bytes, or None: it hangs up.

    metadata: the error of the topic.
    """
    waiting = list(answers)

    def reply(request: bytes) -> bytes | None:
        head = request_head(request, 0, len(request))
        if head.key == METADATA and (not waiting or waiting[0] != AWAY):
            return led_by(broker.address, head.correlation_id, metadata)
        answer = waiting.pop(0)
        if isinstance(answer, int):
            return produced(head.correlation_id, answer)
        return None if answer == AWAY else answer

    with ScriptedBroker(reply) as broker:
        yield broker


@pytest.mark.parametrize(
    ("answers", "error", "asked"),
    [
        *(pytest.param([stale, 0], 0, "MPMP", id=f"stale leader: {stale}") for stale in (3, 5, 6)),
        pytest.param([10], 10, "MP", id="another error"),
        pytest.param([None, 0], 0, "MPMP", id="lost connection"),
        pytest.param([None, AWAY, 0], 0, "MPMP", id="away for a moment"),
    ],
)
def test_a_set_is_sent_again_where_that_may_help(
    answers: list[int | bytes | None], error: int, asked: str
) -> None:
    with answering(*answers) as broker, Client([broker.address], patience=SOON) as client:
        found = client.produce({("a", 0): [Message(None, b"v")]})
    assert found == {("a", 0): Produced(error, -1 if error else 4)}
    keys = [request_head(one, 0, len(one)).key for one in broker.requests]
    assert keys == [METADATA if one == "M" else PRODUCE for one in asked]


def test_without_acknowledgement_nobody_answers() -> None:
    # the embedded cluster answers these too, against the protocol: so not there
    with answering(b"", 0) as broker, Client([broker.address]) as client:
        assert client.produce({("a", 0): [Message(None, b"v")]}, acks=0) == {}
        assert client.produce({("a", 0): [Message(None, b"v")]}) == {("a", 0): Produced(0, 4)}
    assert [request_head(one, 0, len(one)).acks for one in broker.requests] == [None, 0, 1]


def test_no_leader_is_the_error_of_metadata() -> None:
    with answering(metadata=5) as broker, Client([broker.address], patience=0) as client:
        assert client.produce({("a", 0): [Message(None, b"v")]}) == {("a", 0): Produced(5, -1)}


class Link:
    """A connection of the 0.8 client to the bench's broker, in memory."""

    broker = BenchBroker()
    ordinal = 0
    """How many answers are valid before the fuzzer's."""
    number = 0
    """Of the case."""

    def __init__(self, address: tuple[str, int], client_id: str, timeout: float) -> None:
        self._there = BenchConnection(Link.broker)
        self._dialogue = Dialogue(client_id)

    def send(
        self, key: int, body: Mapping[str, Any], version: int = 0, *, answered: bool = True
    ) -> None:
        asked = self._dialogue.ask(key, version, body, answered=answered)
        for reply in self._there.receive(asked):
            data = b"".join(reply.chunks)
            if Link.ordinal == 0 and data:
                data = damaged("client", Link.number, key, 0, data[4:])
            Link.ordinal -= 1
            self._dialogue.feed(data)

    def receive(self) -> dict[str, Any]:
        for answer in self._dialogue.answers():
            return answer.body
        raise ConnectionResetError("the broker closed the connection")

    def close(self) -> None:
        pass


def test_the_fuzzer_s_answers_give_a_result_or_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call gives a result, or an OSError (of which Unreachable and ProtocolError are)."""
    monkeypatch.setattr(client_0_8, "Connection", Link)
    given = failed = 0
    for number in range(200):
        Link.broker, Link.ordinal, Link.number = BenchBroker(), number % 5, number
        Link.broker.cluster.host, Link.broker.cluster.port = "h", 1
        client = Client([("h", 1)], patience=0)
        calls: tuple[tuple[Callable[..., object], object], ...] = (
            (client.refresh, [TOPIC]),
            (client.produce, {(TOPIC, 0): [Message(b"k", b"v")]}),
            (client.offsets, {(TOPIC, 0): EARLIEST}),
            (client.fetch, {(TOPIC, 0): 0}),
        )
        for call, asked in calls:
            try:
                given += call(asked) is not None
            except OSError:
                failed += 1
    assert given > 400
    assert failed > 20
