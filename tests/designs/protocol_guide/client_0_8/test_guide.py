"""Sentences of the guide that are about brokers, on a real one of 0.8.2.2."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.designs.leaders import Place
from barnabas.designs.protocol_guide.client_0_8 import EARLIEST, LATEST, Client, Message, requests
from barnabas.designs.protocol_guide.client_0_8.client import Connection
from barnabas.peers.apache import ApacheCluster
from barnabas.specs import Frame, encode_frame
from barnabas.specs.keys import FETCH, PRODUCE
from tests.designs.protocol_guide.client_0_8.conftest import LARGEST, LARGEST_REQUEST
from tests.designs.waiting import LIMIT

pytestmark = pytest.mark.needs_apache("0.8.2.2")

CONSUMER, DEBUGGING = -1, -2
NOT_LEADER = 6
UNKNOWN_TOPIC_OR_PARTITION = 3
HOUR = 3_600
CLIENT = "guide"


@pytest.fixture
def client(kafka_0_8: ApacheCluster) -> Iterator[Client]:
    with Client(kafka_0_8.brokers.values(), patience=LIMIT) as made:
        yield made


def request_of(size: int) -> dict[str, object]:
    """The body of a Produce request of so many bytes, for a partition that is not there."""

    def body(filling: int) -> dict[str, object]:
        return requests.produce_bytes({("nowhere", 0): bytes(filling)}, 1, 1000)

    header = {"client_id": CLIENT, "correlation_id": 0}
    around = len(encode_frame(Frame("request", PRODUCE, 0, header, body(0)))) - 4
    return body(size - around)


def sent_and_answered(connection: Connection, body: dict[str, object]) -> dict[str, Any]:
    connection.send(PRODUCE, body)
    return connection.receive()


def test_a_request_beyond_the_limit_is_disconnected(kafka_0_8: ApacheCluster) -> None:
    """'any request that exceeds this limit will result in the socket being disconnected'"""
    address = kafka_0_8.brokers[1]
    other = Connection(address, CLIENT, 10)
    largest = Connection(address, CLIENT, 10)
    (topic,) = sent_and_answered(largest, request_of(LARGEST_REQUEST))["responses"]
    assert topic["partition_responses"][0]["error_code"] == UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(ConnectionError):
        sent_and_answered(largest, request_of(LARGEST_REQUEST + 1))
    assert sent_and_answered(other, request_of(200))["responses"]  # nobody else's connection
    for one in (other, largest):
        one.close()


def fetched(client: Client, node: int, place: Place, replica_id: int) -> requests.Fetched:
    """What a broker gives to who says that it is this replica."""
    body = requests.fetch(
        {place: 0}, max_wait_ms=300, min_bytes=1, max_bytes=1 << 16, replica_id=replica_id
    )
    answer = client.ask(client.cluster.brokers[node], FETCH, body)
    return requests.fetched(answer, {place: 0})[place]


def test_who_debugs_reads_where_only_replicas_are(client: Client) -> None:
    """'The value -2 is accepted to allow a non-broker to issue fetch requests as if it were a replica
    broker': a follower answers it, and sends a consumer to the leader."""
    place = "debugged", 0
    sent = (Message(None, b"v"),)
    assert client.produce({place: sent}, acks=-1)[place].error == 0
    leader = client.cluster.leaders[place]
    follower = 3 - leader
    assert fetched(client, follower, place, CONSUMER).error == NOT_LEADER
    until = time.monotonic() + LIMIT
    # the follower learns with its next fetch how far the others are
    while not (found := fetched(client, follower, place, DEBUGGING)).messages:
        assert time.monotonic() < until, found
    assert (found.error, found.messages) == (0, ((0, sent[0]),))
    for replica_id in (CONSUMER, DEBUGGING):
        assert fetched(client, leader, place, replica_id).messages == ((0, sent[0]),)


def test_what_not_all_replicas_have_is_for_replicas(
    kafka_0_8: ApacheCluster, client: Client
) -> None:
    """Not 'as if it were a replica broker' in this: in 0.8.2.2 who debugs gets what a consumer does."""
    place = "uncommitted", 0
    assert client.produce({place: [Message(None, b"v")]}, acks=-1)[place].error == 0
    leader = client.cluster.leaders[place]
    kafka_0_8.pause(3 - leader)
    try:
        assert client.produce({place: [Message(None, b"w")]}, acks=1)[place].error == 0
        found = {who: fetched(client, leader, place, who) for who in (CONSUMER, DEBUGGING)}
    finally:
        kafka_0_8.resume(3 - leader)
    for one in found.values():
        assert (one.high_watermark, one.messages) == (1, ((0, Message(None, b"v")),))


def test_offsets_by_time_are_those_of_segments(kafka_0_8: ApacheCluster, client: Client) -> None:
    """'the starting offset of each segment for the requested partition as well as the "log end offset"'

    To a time in ms 0.8.2.2 gives the segments whose files were last changed by then, and the end if
    the time is not over yet.
    """
    place = "segments", 0
    for _ in range(6):  # two fill a segment
        assert (
            client.produce({place: [Message(None, bytes(LARGEST - 100))]}, acks=-1)[place].error
            == 0
        )
    node = kafka_0_8.nodes[client.cluster.leaders[place]].node
    files = sorted(Path(node.directory, "data", "segments-0").glob("*.log"))
    begins = [int(file.stem) for file in files]
    assert begins == [0, 2, 4]
    now = int(time.time())
    changed = [now - 3 * HOUR, now - 2 * HOUR, now - HOUR]
    for file, when in zip(files, changed, strict=True):
        os.utime(file, (when, when))

    def before(when: int, count: int = 10) -> tuple[int, ...]:
        found = client.offsets({place: when}, count=count)[place]
        assert found.error == 0
        return found.offsets

    assert before(LATEST) == (6, 4, 2, 0)
    assert before(EARLIEST) == (0,)
    assert before((now + HOUR) * 1000) == (6, 4, 2, 0)
    assert before(changed[2] * 1000) == (4, 2, 0)
    assert before(changed[2] * 1000 - 1) == (2, 0)
    assert before(changed[1] * 1000, count=1) == (2,)
    assert before(changed[0] * 1000) == (0,)
    assert before(changed[0] * 1000 - 1) == ()
