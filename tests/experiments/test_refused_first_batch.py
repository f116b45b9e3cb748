"""Five batches of an idempotent producer are in flight, and the proxy refuses the first one.

A broker with records of the producer refuses the other four. In the place of a broker without records, which
would store them, the proxy refuses them.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api, records
from barnabas.specs.frames import response_body
from barnabas.specs.records import Record
from tests.experiments.scenarios.kafka import made_topic, read_log
from tests.proxy.frames import request
from tests.waiting import SOON, until

pytestmark = pytest.mark.needs_apache("4.3.1")

NOT_LEADER, OUT_OF_ORDER = 6, 45

PARTITIONS: Final = (0, 3)
"""Partitions with the same leader, of three brokers."""

REFUSED: Final = """
version: 1
rules:
- name: the first batch
  match: {api: Produce, direction: request}
  when: {times: 1}
  do: {respond: {error: NOT_LEADER_OR_FOLLOWER, only: {topic: "*", partition: 3}}}
"""


class Client:
    """A connection to one broker that sends requests without waiting."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, timeout=SOON)
        self._number = 0

    def send(self, name: str, version: int, **body: Any) -> None:
        """Send a request."""
        self._number += 1
        self._socket.sendall(request(name, self._number, version=version, **body))

    def receive(self, name: str, version: int) -> dict[str, Any]:
        """Return the body of the next response."""
        payload = self._bytes(int.from_bytes(self._bytes(4)))
        declared = api(name)
        start = response_body(payload, declared.key, version)
        return declared.response.codec(version).decode(payload[start:])

    def _bytes(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            data += self._socket.recv(size - len(data)) or pytest.fail("the connection ended")
        return data

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


@contextmanager
def leader(proxy: Harness, topic: str) -> Iterator[Client]:
    """Connect to the leader of a topic's first partition."""
    host, port = proxy.proxy.address
    first = Client((host, port))
    first.send("Metadata", 9, topics=[{"name": topic}])
    found = first.receive("Metadata", 9)
    first.close()
    nodes = {
        each["partition_index"]: each["leader_id"] for each in found["topics"][0]["partitions"]
    }
    node = nodes[PARTITIONS[0]]
    (address,) = [
        (each["host"], each["port"]) for each in found["brokers"] if each["node_id"] == node
    ]
    client = Client(address)
    try:
        yield client
    finally:
        client.close()


def new_producer(client: Client) -> int:
    """Return a new producer id; 0 while the controller has none for the broker."""
    client.send("InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1000)
    answered = client.receive("InitProducerId", 4)
    return 0 if answered["error_code"] else int(answered["producer_id"])


def batch(producer: int, sequence: int) -> bytes:
    """Return the batch of one record with this sequence number."""
    record = Record(0, 1_700_000_000_000, None, b"%d" % sequence)
    return records.build([record], producer_id=producer, producer_epoch=0, base_sequence=sequence)


def produce(client: Client, topic: str, producer: int, sequences: list[int]) -> list[list[int]]:
    """Send a batch to both partitions in each request, all in flight; return the errors of each request."""
    for sequence in sequences:
        data = [{"index": index, "records": batch(producer, sequence)} for index in PARTITIONS]
        topics = [{"name": topic, "partition_data": data}]
        client.send("Produce", 9, acks=-1, timeout_ms=10_000, topic_data=topics)
    told = []
    for _ in sequences:
        (answered,) = client.receive("Produce", 9)["responses"]
        entries = sorted(answered["partition_responses"], key=lambda entry: entry["index"])
        told.append([entry["error_code"] for entry in entries])
    return told


@pytest.mark.parametrize("known", [True, False], ids=["state", "no-state"])
def test_batches_after_a_refused_one_are_out_of_order_until_it_comes_again(
    known: bool, cluster: ApacheCluster
) -> None:
    topic = made_topic(cluster.bootstrap, f"refused-first-{known}", 4)
    with Harness(cluster.bootstrap) as direct, leader(direct, topic) as client:
        producer = until(lambda: new_producer(client), "the cluster gives a producer id")
        if known:
            assert produce(client, topic, producer, [0]) == [[0, 0]]
    first = int(known)
    flight = list(range(first, first + 5))
    with (
        Harness(cluster.bootstrap, scenario=loads(REFUSED)) as proxy,
        leader(proxy, topic) as client,
    ):
        told = produce(client, topic, producer, flight)
        again = produce(client, topic, producer, flight)
    values = [b"%d" % sequence for sequence in flight]
    stored = read_log(cluster.bootstrap, topic)
    before = [b"0"] * known
    assert [codes[0] for codes in told] == [0] * 5
    # all are out of order until the first one comes again
    assert [codes[1] for codes in told] == [NOT_LEADER] + [OUT_OF_ORDER] * 4
    assert [codes[1] for codes in again] == [0] * 5
    assert stored[3] == before + values
    assert stored[0] == before + values
