"""The producer with real sockets: the embedded cluster, the proxy between, brokers that misbehave."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from barnabas.harness import Harness
from peers.client_0_8 import Client
from peers.embedded import EmbeddedCluster
from peers.pipelined_producer import (
    BLOCKING_0_8,
    Outcome,
    PipelinedProducer,
    QueueFull,
    Settings,
    Stopped,
)
from proxy.scenario import loads
from specs.records import Record, read
from tests.peers.scripted import ScriptedBroker

pytest.importorskip("confluent_kafka")

SLOW = """
version: 1
rules:
  - name: far away
    match: {api: Produce, direction: response}
    do: {delay: 100ms}
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(3) as running:
        yield running


def stored(cluster: EmbeddedCluster, topic: str, partitions: int) -> dict[int, list[bytes]]:
    """All that is in a topic: the embedded cluster gives a batch a Fetch, whatever its magic."""
    found: dict[int, list[bytes]] = {}
    with Client(cluster.brokers.values()) as client:
        for number in range(partitions):
            place = topic, number
            client.refresh([topic])
            address = client.cluster.brokers[client.cluster.leaders[place]]
            values: list[bytes] = []
            while True:
                body = {
                    "replica_id": -1,
                    "max_wait_ms": 1,
                    "min_bytes": 0,
                    "topics": [
                        {
                            "topic": topic,
                            "partitions": [
                                {
                                    "partition": number,
                                    "fetch_offset": len(values),
                                    "partition_max_bytes": 1 << 20,
                                }
                            ],
                        }
                    ],
                }
                (answer,) = client.ask(address, 1, body)["responses"]
                records: list[Record] = [
                    record for batch in read(answer["partitions"][0]["records"]) for record in batch
                ]
                if not records:
                    break
                values += (record.value or b"" for record in records)
            found[number] = values
    return found


@pytest.mark.parametrize("queueing", ["partition", "one"])
@pytest.mark.parametrize("metadata", ["blocking", "non-blocking"])
@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4"])
def test_all_comes_in_order(
    cluster: EmbeddedCluster, queueing: str, metadata: str, compression: str
) -> None:
    topic = f"{queueing}-{metadata}-{compression}"
    how = {"queueing": queueing, "metadata": metadata, "compression": compression}
    told: list[Outcome] = []
    settings = Settings(batch_messages=20, **how)  # type: ignore[arg-type]
    with PipelinedProducer([cluster.brokers[1]], settings) as producer:
        for number in range(400):
            producer.send(topic, b"%d" % number, key=b"k%d" % (number % 11), told=told.append)
    assert Counter(one.problem for one in told) == {None: 400}
    logs = stored(cluster, topic, 4)
    assert sorted(int(value) for log in logs.values() for value in log) == list(range(400))
    for log in logs.values():
        assert log == sorted(log, key=int)
    for one in told:
        assert logs[one.event.partition][one.offset] == one.event.value


def test_the_blocking_producer(cluster: EmbeddedCluster) -> None:
    told: list[Outcome] = []
    with (
        Harness(cluster.bootstrap) as proxy,
        PipelinedProducer(
            [proxy.proxy.address], replace(BLOCKING_0_8, batch_messages=5)
        ) as producer,
    ):
        for number in range(100):
            producer.send("blocking", b"%d" % number, told=told.append)
        assert producer.flush(30) == 0
    assert Counter(one.problem for one in told) == {None: 100}
    produced = [one for one in proxy.exchanges if one.api == "Produce"]
    assert {one.version for one in produced} == {0}
    spans = sorted((one.ts, one.ts + int((one.latency_ms or 0) * 1e6)) for one in produced)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))


def test_several_are_in_flight_through_the_proxy(cluster: EmbeddedCluster) -> None:
    told: list[Outcome] = []
    settings = Settings(in_flight=4, batch_messages=1)
    with (
        Harness(cluster.bootstrap, scenario=loads(SLOW)) as proxy,
        PipelinedProducer([proxy.proxy.address], settings) as producer,
    ):
        for number in range(40):
            producer.send("pipelined", b"%d" % number, partition=0, told=told.append)
        assert producer.flush(30) == 0
    assert Counter(one.problem for one in told) == {None: 40}
    produced = [one for one in proxy.exchanges if one.api == "Produce"]
    spans = [(one.ts, one.ts + int((one.latency_ms or 0) * 1e6)) for one in produced]
    assert max(sum(begin <= at < end for begin, end in spans) for at, _ in spans) == 4
    assert stored(cluster, "pipelined", 1)[0] == [b"%d" % number for number in range(40)]


def test_what_the_proxy_cuts_is_sent_again(cluster: EmbeddedCluster) -> None:
    cut = """
version: 1
rules:
  - name: once
    match: {api: Produce, direction: request}
    when: {skip: 3, times: 1, scope: rule}
    do: close
"""
    told: list[Outcome] = []
    with (
        Harness(cluster.bootstrap, scenario=loads(cut)) as proxy,
        PipelinedProducer([proxy.proxy.address], Settings(batch_messages=2)) as producer,
    ):
        for number in range(50):
            producer.send("cut", b"%d" % number, partition=0, told=told.append)
        assert producer.flush(30) == 0
    assert Counter(one.problem for one in told) == {None: 50}
    assert {int(value) for value in stored(cluster, "cut", 1)[0]} == set(range(50))


def test_a_full_queue_is_said_at_once_or_waited_for(cluster: EmbeddedCluster) -> None:
    with ScriptedBroker(lambda _: b"") as silent:
        producer = PipelinedProducer([silent.address], Settings(queue_messages=3))
        for _ in range(3):
            producer.send("t", b"v")
        with pytest.raises(QueueFull):
            producer.send("t", b"v")
        with pytest.raises(QueueFull):
            producer.send("t", b"v", wait=0.05)
        assert producer.flush(0.05) == 3
        producer.close(0)
    with PipelinedProducer([cluster.brokers[1]], Settings(queue_messages=3)) as producer:
        for _ in range(50):
            producer.send("room", b"v", wait=20)


def test_the_end_reports_what_was_not_sent_and_takes_nothing_more() -> None:
    told: list[Outcome] = []
    with ScriptedBroker(lambda _: None) as broker:
        gone = broker.address
    producer = PipelinedProducer([gone])
    producer.send("t", b"v", told=told.append)
    producer.close(0.05)
    assert [one.problem for one in told] == ["the producer was closed"]
    with pytest.raises(Stopped):
        producer.send("t", b"v")


def test_without_an_address_there_is_no_producer() -> None:
    with pytest.raises(ValueError, match="no address to ask for metadata"):
        PipelinedProducer([])


def test_what_is_being_told_is_not_flushed_yet() -> None:
    heard, go_on = threading.Event(), threading.Event()

    def told(outcome: Outcome) -> None:
        heard.set()
        assert go_on.wait(20)

    with ScriptedBroker(lambda _: b"") as silent:
        producer = PipelinedProducer([silent.address], Settings(expiry_ms=1))
        producer.send("t", b"v", told=told)
        assert heard.wait(20)
        left = producer.flush(0)
        go_on.set()
        assert (left, producer.flush(20)) == (1, 0)
        producer.close()
    assert producer.problems == []


def test_the_send_thread_does_not_wait_for_itself() -> None:
    with ScriptedBroker(lambda _: b"") as silent:
        producer = PipelinedProducer([silent.address], Settings(expiry_ms=1))
        producer.send("t", b"v", told=lambda _: producer.close())
        assert producer.flush(20) == 0
        producer.close()
    assert [str(one) for one in producer.problems] == ["the send thread would wait for itself"]


def test_an_application_s_fault_does_not_end_the_send_thread(cluster: EmbeddedCluster) -> None:
    done = threading.Event()

    def told(outcome: Outcome) -> None:
        if outcome.event.value == b"bad":
            raise RuntimeError("mine")
        done.set()

    with PipelinedProducer([cluster.brokers[1]]) as producer:
        producer.send("faults", b"bad", told=told)
        producer.flush(20)
        producer.send("faults", b"good", told=told)
        producer.flush(20)
    assert done.is_set()
    assert [str(problem) for problem in producer.problems] == ["mine"]


def test_no_such_host_is_an_address_that_does_not_answer(cluster: EmbeddedCluster) -> None:
    told: list[Outcome] = []
    hosts = ["no..host", "no\0host", "\ud800", "ü" * 100]
    addresses = [("127.0.0.1", 99999), *((host, 9) for host in hosts), cluster.brokers[1]]
    with PipelinedProducer(addresses) as producer:
        producer.send("hosts", b"v", told=told.append)
        assert producer.flush(20) == 0
    assert [one.problem for one in told] == [None]
