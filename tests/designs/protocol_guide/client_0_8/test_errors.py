"""Every error code of the guide's table, provoked once on a real broker, of 0.8.2.2 unless said.

`TABLE` says how. BrokerNotAvailableCode (8) comes from 0.9.0.1: to the same request 0.8.2.2 says -1,
as its handler looks for the code of the exception's cause, and there is none. One code is answered by
the proxy's fault `respond`, since no request gets it from a broker:

InvalidMessageSizeCode (4): in 0.8.2.2 only Log.trimInvalidBytes throws its exception, when the bytes
of a set are below zero. Iterating over the set is what counts them, and a message with a negative
size ends that before with InvalidMessageCode (2) (`protocol-guide` shows it); the sum alone could
only become negative by more than 2 GiB, and a request has at most 100 MB. In 0.9.0.1, too, Log alone
throws it. From 0.10.2.2 to 4.3.1 no class throws it (of 0.10.2.2, 0.11.0.1, 1.1.1, 2.8.2, 3.9.1 and
4.3.1 all that name the exception or its code were listed): beside the tables of errors only the group
coordinator knows the code, to say another one in its place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from barnabas.designs.leaders import TopicPartition, cluster, metadata
from barnabas.designs.protocol_guide.client_0_8 import Client, Message, requests
from barnabas.designs.protocol_guide.client_0_8.message_sets import write
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.proxy.scenario.file import loads
from barnabas.specs.keys import CONTROLLED_SHUTDOWN, METADATA, PRODUCE
from barnabas.specs.records import Record, build
from tests.designs.protocol_guide.client_0_8.conftest import LARGEST
from tests.waiting import SOON

pytestmark = pytest.mark.needs_apache("0.8.2.2", "0.9.0.1")

BROKER = "0.8.2.2"
NEWER = "0.9.0.1"
ONE = [Message(b"k", b"v")]


class Bench(NamedTuple):
    """Two brokers, a client that does not try again, and a topic that is on both."""

    kafka: ApacheCluster
    client: Client
    place: TopicPartition

    @property
    def leader(self) -> int:
        return self.client.cluster.leaders[self.place]

    @property
    def follower(self) -> int:
        return 3 - self.leader

    def produce_at(self, node: int, data: bytes, acks: int = 1, timeout_ms: int = 5000) -> int:
        """Append any bytes at a broker, whoever leads; the error."""
        body = requests.produce_bytes({self.place: data}, acks, timeout_ms)
        answer = self.client.ask(self.kafka.brokers[node], PRODUCE, body)
        return requests.produced(answer)[self.place].error


def no_error(bench: Bench) -> int:
    return bench.client.produce({bench.place: ONE}, acks=-1)[bench.place].error


def garbage_under_gzip(bench: Bench) -> int:
    """The broker unpacks to give offsets inside; what fails there has no code of its own."""
    data = build(
        [Record(0, -1, None, b"v")], magic=0, compression="gzip", compressor=lambda _: b"?"
    )
    return bench.produce_at(bench.leader, data)


def offset_behind_the_end(bench: Bench) -> int:
    return bench.client.fetch({bench.place: 1_000_000})[bench.place].error


def a_flipped_bit(bench: Bench) -> int:
    data = bytearray(write(ONE))
    data[-1] ^= 1
    return bench.produce_at(bench.leader, bytes(data))


def partition_77(bench: Bench) -> int:
    place = bench.place[0], 77
    body = requests.produce_bytes({place: write(ONE)}, 1, 5000)
    answer = bench.client.ask(bench.kafka.brokers[bench.leader], PRODUCE, body)
    return requests.produced(answer)[place].error


def answered_by_the_proxy(bench: Bench) -> int:
    """The fault: see above why no broker does it."""
    rule = "rules: [{name: r, match: {api: Produce}, do: {respond: {error: 4}}}]"
    with (
        Harness(bench.kafka.bootstrap, scenario=loads(f"version: 1\n{rule}\n")) as proxy,
        Client([proxy.proxy.address], patience=0) as client,
    ):
        client.refresh([bench.place[0]])
        return client.produce({bench.place: ONE})[bench.place].error


def a_topic_that_is_just_made(bench: Bench) -> int:
    """Asking for metadata makes a topic; its leader is elected while the answer is under way."""
    return bench.client.refresh(["just-made"]).errors["just-made"]


def the_follower(bench: Bench) -> int:
    return bench.produce_at(bench.follower, write(ONE))


def all_replicas_while_one_stands_still(bench: Bench) -> int:
    bench.kafka.pause(bench.follower)
    try:
        return bench.produce_at(bench.leader, write(ONE), acks=-1, timeout_ms=300)
    finally:
        bench.kafka.resume(bench.follower)


def shutdown_of_a_broker_that_is_not_there(bench: Bench) -> int:
    """Brokers ask their controller that, so only who speaks their ControlledShutdown gets it."""
    with ApacheCluster(NEWER) as newer:
        found = bench.client.ask(newer.brokers[1], CONTROLLED_SHUTDOWN, {"broker_id": 99})
    return int(found["error_code"])


def metadata_without_the_follower(bench: Bench) -> int:
    """The answer to the guide's question: the leader is there, and a replica is not."""
    node = bench.follower
    bench.kafka.kill(node)
    try:
        error = 0
        until = time.monotonic() + SOON
        while not error and time.monotonic() < until:
            body = metadata([bench.place[0]])
            answer = bench.client.ask(bench.kafka.brokers[bench.leader], METADATA, body)
            found = cluster(answer)
            error = found.errors.get(bench.place, 0)
            time.sleep(0.1)
        assert found.leaders[bench.place] == bench.leader
        return error
    finally:
        bench.kafka.start(node)


def a_larger_message(bench: Bench) -> int:
    return bench.produce_at(bench.leader, write([Message(None, bytes(2 * LARGEST))]))


PROXY = "the proxy's respond"


TABLE: tuple[tuple[str, int, str, Callable[[Bench], int]], ...] = (
    ("NoError", 0, BROKER, no_error),
    ("Unknown", -1, BROKER, garbage_under_gzip),
    ("OffsetOutOfRangeCode", 1, BROKER, offset_behind_the_end),
    ("InvalidMessageCode", 2, BROKER, a_flipped_bit),
    ("UnknownTopicOrPartitionCode", 3, BROKER, partition_77),
    ("InvalidMessageSizeCode", 4, PROXY, answered_by_the_proxy),
    ("LeaderNotAvailableCode", 5, BROKER, a_topic_that_is_just_made),
    ("NotLeaderForPartitionCode", 6, BROKER, the_follower),
    ("RequestTimedOutCode", 7, BROKER, all_replicas_while_one_stands_still),
    ("BrokerNotAvailableCode", 8, NEWER, shutdown_of_a_broker_that_is_not_there),
    ("ReplicaNotAvailableCode", 9, BROKER, metadata_without_the_follower),
    ("MessageSizeTooLargeCode", 10, BROKER, a_larger_message),
)
"""Name and code in the guide, who answers it, and how it is provoked."""


@contextmanager
def bench(kafka: ApacheCluster, topic: str = "errors") -> Iterator[Bench]:
    """A topic whose partition both brokers have and follow."""
    with Client(kafka.brokers.values(), patience=0) as client:
        place = topic, 0
        until = time.monotonic() + SOON
        while True:
            found = client.refresh([topic])
            if place in found.leaders and not found.errors:
                made = Bench(kafka, client, place)
                # so many acknowledgements come when the follower is in sync again
                if made.produce_at(made.leader, write(ONE), acks=2, timeout_ms=1000) == 0:
                    break
            assert time.monotonic() < until, found
            time.sleep(0.1)
        yield made


@pytest.mark.parametrize(
    ("code", "provoke"), [(code, provoke) for _, code, _, provoke in TABLE],
    ids=[f"{name}-{who}" for name, _, who, _ in TABLE],
)  # fmt: skip
def test_each_error_is_provoked(
    kafka_0_8: ApacheCluster, code: int, provoke: Callable[[Bench], int]
) -> None:
    with bench(kafka_0_8) as made:
        assert provoke(made) == code
