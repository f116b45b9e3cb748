"""Sentences of the guide that are about brokers, on a real one of 0.8.2.2."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.designs.leaders import Place
from barnabas.designs.protocol_guide.client_0_8 import EARLIEST, LATEST, Client, Message, requests
from barnabas.peers.apache import ApacheCluster
from barnabas.specs.keys import FETCH
from tests.designs.protocol_guide.client_0_8.conftest import LARGEST
from tests.waiting import SOON

pytestmark = pytest.mark.needs_apache("0.8.2.2")

CONSUMER, DEBUGGING = -1, -2
HOUR = 3_600


@pytest.fixture
def client(kafka_0_8: ApacheCluster) -> Iterator[Client]:
    with Client(kafka_0_8.brokers.values(), patience=SOON) as made:
        yield made


def fetched(client: Client, node: int, place: Place, replica_id: int) -> requests.Fetched:
    """What a broker gives to who says that it is this replica."""
    body = requests.fetch(
        {place: 0}, max_wait_ms=300, min_bytes=1, max_bytes=1 << 16, replica_id=replica_id
    )
    answer = client.ask(client.cluster.brokers[node], FETCH, body)
    return requests.fetched(answer, {place: 0})[place]


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
