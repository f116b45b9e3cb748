"""The producer with real sockets: the embedded cluster, the proxy between, brokers that misbehave."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace

import pytest

from barnabas.designs.pipelined_producer.peers import (
    Outcome,
    PipelinedProducer,
    QueueFull,
    Settings,
    Stopped,
)
from barnabas.designs.pipelined_producer.peers import producer as producing
from barnabas.designs.pipelined_producer.peers.serializing import PLAIN
from barnabas.designs.pipelined_producer.peers.sockets import Endpoint
from barnabas.harness import Harness
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.proxy.scenario.file import loads
from tests.designs.scripted import ScriptedBroker
from tests.experiments.scenarios.kafka import read_log
from tests.waiting import SOON

pytest.importorskip("confluent_kafka")


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(3) as running:
        yield running


@pytest.mark.parametrize(
    ("queueing", "metadata", "compression"),
    [
        ("partition", "non-blocking", "none"),
        ("one", "blocking", "gzip"),
        ("one", "non-blocking", "snappy"),
        ("partition", "blocking", "lz4"),
    ],
)
def test_all_comes_in_order(
    cluster: EmbeddedCluster, queueing: str, metadata: str, compression: str
) -> None:
    topic = f"{queueing}-{metadata}-{compression}"
    how = {"queueing": queueing, "metadata": metadata, "compression": compression}
    reported: list[Outcome] = []
    settings = Settings(batch_messages=20, **how)  # type: ignore[arg-type]
    with PipelinedProducer([cluster.brokers[1]], settings) as producer:
        for number in range(400):
            producer.send(topic, b"%d" % number, key=b"k%d" % (number % 11), told=reported.append)
    assert Counter(one.problem for one in reported) == {None: 400}
    logs = read_log(cluster.bootstrap, topic)
    assert sorted(int(value) for log in logs.values() for value in log) == list(range(400))
    for log in logs.values():
        assert log == sorted(log, key=int)
    for one in reported:
        assert logs[one.event.partition][one.offset] == one.event.value


def test_what_the_proxy_cuts_is_sent_again(cluster: EmbeddedCluster) -> None:
    cut = """
version: 1
rules:
  - name: once
    match: {api: Produce, direction: request}
    when: {skip: 3, times: 1, scope: rule}
    do: close
"""
    reported: list[Outcome] = []
    with (
        Harness(cluster.bootstrap, scenario=loads(cut)) as proxy,
        PipelinedProducer([proxy.proxy.address], Settings(batch_messages=2)) as producer,
    ):
        for number in range(50):
            producer.send("cut", b"%d" % number, partition=0, told=reported.append)
        assert producer.flush(SOON) == 0
    assert Counter(one.problem for one in reported) == {None: 50}
    assert {int(value) for value in read_log(cluster.bootstrap, "cut")[0]} == set(range(50))


@pytest.mark.parametrize("serializing", ["client thread", "send thread"])
def test_one_of_the_threads_serialises(cluster: EmbeddedCluster, serializing: str) -> None:
    threads: set[int] = set()
    reported: list[Outcome] = []

    def to_bytes(value: int) -> bytes:
        threads.add(threading.get_ident())
        return b"%d" % value

    topic = serializing.replace(" ", "-")
    with PipelinedProducer(
        [cluster.brokers[1]],
        Settings(serializing=serializing),  # type: ignore[arg-type]
        serializers=PLAIN._replace(value=to_bytes),
    ) as producer:
        for number in range(20):
            producer.send(topic, number, partition=0, told=reported.append)
        if serializing == "client thread":
            with pytest.raises(TypeError, match="a real number is required"):
                producer.send(topic, "x", told=reported.append)
    assert (threads == {threading.get_ident()}) == (serializing == "client thread")
    assert len(threads) == 1
    assert [(one.problem, one.event.value) for one in reported] == [(None, n) for n in range(20)]
    assert read_log(cluster.bootstrap, topic)[0] == [b"%d" % number for number in range(20)]


def test_a_full_queue_is_said_at_once_or_waited_for(cluster: EmbeddedCluster) -> None:
    with ScriptedBroker(lambda _: b"") as silent:
        producer = PipelinedProducer([silent.address], Settings(queue_messages=3))
        for _ in range(3):
            producer.send("t", b"v")
        with pytest.raises(QueueFull, match="the queue for t is full"):
            producer.send("t", b"v")
        with pytest.raises(QueueFull):
            producer.send("t", b"v", wait=0.05)
        assert producer.flush(0.05) == 3
        producer.close(0)
    with PipelinedProducer([cluster.brokers[1]], Settings(queue_messages=3)) as producer:
        for _ in range(50):
            producer.send("room", b"v", wait=SOON)


def test_the_end_reports_what_was_not_sent_and_takes_nothing_more() -> None:
    reported: list[Outcome] = []
    with ScriptedBroker(lambda _: None) as broker:
        gone = broker.address
    producer = PipelinedProducer([gone])
    producer.send("t", b"v", told=reported.append)
    producer.close(0.05)
    assert [one.problem for one in reported] == ["the producer was closed"]
    with pytest.raises(Stopped):
        producer.send("t", b"v")


def test_without_an_address_there_is_no_producer() -> None:
    with pytest.raises(ValueError, match="no address to ask for metadata"):
        PipelinedProducer([])


def test_what_is_being_told_is_not_flushed_yet() -> None:
    heard, go_on = threading.Event(), threading.Event()

    def told(outcome: Outcome) -> None:
        heard.set()
        assert go_on.wait(SOON)

    with ScriptedBroker(lambda _: b"") as silent:
        producer = PipelinedProducer([silent.address], Settings(expiry_ms=1))
        producer.send("t", b"v", told=told)
        assert heard.wait(SOON)
        left = producer.flush(0)
        go_on.set()
        assert (left, producer.flush(SOON)) == (1, 0)
        producer.close()
    assert producer.problems == []


def test_the_send_thread_does_not_wait_for_itself() -> None:
    with ScriptedBroker(lambda _: b"") as silent:
        producer = PipelinedProducer([silent.address], Settings(expiry_ms=1))
        producer.send("t", b"v", told=lambda _: producer.close())
        assert producer.flush(SOON) == 0
        producer.close()
    assert [str(one) for one in producer.problems] == ["the send thread would wait for itself"]


@pytest.mark.parametrize("expiry_ms", range(5, 105, 20))
def test_what_gets_too_old_in_the_middle_of_a_round_is_not_forgotten(
    expiry_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clock that goes on by 10 ms whenever somebody looks at it."""
    times = count(1000.0, 0.01)
    clock = SimpleNamespace(monotonic=lambda: next(times), time_ns=lambda: 0)
    monkeypatch.setattr(producing, "time", clock)
    heard, go_on = threading.Event(), threading.Event()

    def lookup(host: str, port: int) -> list[Endpoint]:
        """Nothing but the message's age ends the wait."""
        go_on.wait(SOON)
        return []

    settings = Settings(expiry_ms=expiry_ms)
    with PipelinedProducer([("slow", 9)], settings, lookup=lookup) as producer:
        producer.send("t", b"v", told=lambda _: heard.set())
        assert heard.wait(SOON)
        go_on.set()


def test_no_such_host_is_an_address_that_does_not_answer(cluster: EmbeddedCluster) -> None:
    reported: list[Outcome] = []
    hosts = ["no..host", "no\0host", "\ud800", "ü" * 100]
    addresses = [("127.0.0.1", 99999), *((host, 9) for host in hosts), cluster.brokers[1]]
    with PipelinedProducer(addresses) as producer:
        producer.send("hosts", b"v", told=reported.append)
        assert producer.flush(SOON) == 0
    assert [one.problem for one in reported] == [None]
