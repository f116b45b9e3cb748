"""The document's loop: its steps, and what goes to brokers in which request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from barnabas.designs.pipelined_producer.peers.loop import Loop
from barnabas.designs.pipelined_producer.peers.settings import BLOCKING_0_8, Settings
from barnabas.designs.pipelined_producer.peers.steps import STEPS, wake
from barnabas.specs.frames import Frame, encode_frame
from barnabas.specs.keys import API_VERSIONS, PRODUCE
from barnabas.specs.records import read
from tests.designs.pipelined_producer.peers.stage import (
    Cluster,
    Stage,
    numbered,
    parts,
    silent_stage,
)

ONE_QUEUE = Settings(queueing="one")
PARTITIONS = Settings(queueing="partition")

both = pytest.mark.parametrize("settings", [PARTITIONS, ONE_QUEUE], ids=["partition", "one"])


def test_several_requests_are_in_flight() -> None:
    stage = silent_stage(Settings(in_flight=3, batch_messages=1))
    stage.send_numbered(10)
    stage.settle()
    assert len(stage.loop.links.brokers[1].in_flight) == 3
    stage.cluster.brokers[1].answering = True
    stage.settle()
    assert stage.cluster.logs["t", 0] == [b"first", *numbered(10)]


def test_a_request_has_a_batch_of_each_partition_that_the_broker_leads() -> None:
    stage = Stage(Settings(batch_messages=4), Cluster(2, {"t": 4, "u": 1}))
    for partition in range(4):
        stage.send_numbered(6, partition=partition)
    stage.send(b"u", topic="u", partition=0)
    stage.settle()
    first, second = stage.requests(1)
    assert parts(first) == {("t", 0): 4, ("t", 2): 4, ("u", 0): 1}
    assert parts(second) == {("t", 0): 2, ("t", 2): 2}
    assert parts(stage.requests(2)[0]) == {("t", 1): 4, ("t", 3): 4}


@both
def test_no_partition_waits_for_ever_for_room_in_a_request(settings: Settings) -> None:
    stage = Stage(replace(settings, request_bytes=400), Cluster(1, {"t": 3}))
    values = [b"%0100d" % number for number in range(30)]
    for number, value in enumerate(values):
        stage.send(value, partition=number % 3)
        stage.now += 0.001
    stage.settle()
    sent = [place for frame in stage.requests(1) for place in parts(frame)]
    assert sent == [("t", 0), ("t", 1), ("t", 2)] * 5
    assert sorted(stage.acknowledged) == values


@both
def test_messages_without_a_key_are_spread(settings: Settings) -> None:
    stage = Stage(replace(settings, batch_messages=2), Cluster(2, {"t": 4}))
    stage.send_numbered(40)
    stage.settle()
    assert sorted(stage.acknowledged) == sorted(numbered(40))
    assert {place[1] for place in stage.cluster.logs} == {0, 1, 2, 3}


def test_a_batch_waits_for_more_until_it_is_full_or_time_is_over() -> None:
    stage = Stage(Settings(linger_ms=50, batch_messages=3), Cluster(1, {"t": 1}))
    stage.send(b"a")
    stage.wait(0)
    assert wake(stage.loop) == pytest.approx(stage.now + 0.05)
    stage.wait(49)
    assert stage.requests(1) == []
    stage.wait(2)
    assert [parts(frame) for frame in stage.requests(1)] == [{("t", 0): 1}]
    for value in (b"b", b"c", b"d"):
        stage.send(value)
    stage.settle()
    assert parts(stage.requests(1)[1]) == {("t", 0): 3}
    stage.send(b"e")
    stage.loop.hurry = True
    stage.settle()
    assert stage.acknowledged == [b"a", b"b", b"c", b"d", b"e"]


@pytest.mark.parametrize(
    ("offered", "version", "magic"),
    [(None, 0, 0), ((0, 1), 1, 0), ((0, 2), 2, 1), ((0, 3), 3, 2), ((3, 13), 12, 2)],
)
def test_produce_is_what_the_broker_offers(
    offered: tuple[int, int] | None, version: int, magic: int
) -> None:
    stage = Stage(cluster=Cluster(1, {"t": 1}))
    stage.cluster.brokers[1].offered = offered
    stage.send(b"v")
    stage.wait(1000)
    (frame,) = stage.requests(1)
    assert frame.version == version
    records = frame.body["topic_data"][0]["partition_data"][0]["records"]
    assert [batch.magic for batch in read(records)] == [magic]
    assert stage.acknowledged == [b"v"]


def test_a_broker_that_does_not_say_its_versions_is_old() -> None:
    """As 0.9 is: it reads no further, and leaves the connection open."""
    stage = Stage(Settings(versions_timeout_ms=2000), Cluster(2, {"t": 2}))
    stage.cluster.brokers[2].answering = False
    stage.send(b"v", partition=1)
    stage.wait(1900)
    assert 2 not in stage.closes
    stage.wait(200)
    assert 2 in stage.closes
    stage.cluster.brokers[2].answering = True
    stage.settle()
    assert [frame.version for frame in stage.requests(2)] == [0]
    assert stage.acknowledged == [b"v"]


def test_a_broker_that_was_old_is_asked_again_when_it_does_not_answer_v0() -> None:
    stage = Stage(cluster=Cluster(1, {"t": 1}))
    broker = stage.cluster.brokers[1]
    broker.offered = None
    stage.send(b"old")
    stage.settle()
    assert stage.requests(1)[-1].version == 0
    broker.offered = (3, 7)  # a new one in its place, which closes connections at v0
    stage.cut(1)
    broker.answering = False
    stage.send(b"new")
    stage.wait(200)
    stage.cut(1)
    broker.answering = True
    stage.wait(500)
    assert stage.requests(1)[-1].version == 7
    assert stage.acknowledged == [b"old", b"new"]


def test_what_can_t_be_serialised_is_said_and_the_rest_is_sent() -> None:
    stage = Stage(cluster=Cluster(1, {"t": 1}))
    for value in (b"a", 5, b"b"):
        stage.send(value)  # type: ignore[arg-type]
    stage.settle()
    assert stage.acknowledged == [b"a", b"b"]
    assert "not serialised: int is neither bytes nor str" in str(stage.problems)


def test_without_acknowledgement_what_is_written_is_done() -> None:
    stage = Stage(Settings(acks=0, batch_messages=1), Cluster(1, {"t": 1}), chunk=10)
    stage.send_numbered(5)
    stage.settle()
    assert stage.cluster.logs["t", 0] == list(numbered(5))
    assert [outcome.offset for outcome in stage.outcomes] == [-1] * 5
    assert stage.intake.outstanding == 0


def test_of_the_blocking_producer_who_was_served_last_comes_last() -> None:
    stage = Stage(replace(BLOCKING_0_8, batch_messages=1), Cluster(2, {"t": 2}))
    for number, value in enumerate(numbered(10)):
        stage.send(value, partition=number % 2)
    stage.settle()
    partitions = [outcome.event.partition for outcome in stage.outcomes]
    assert partitions in ([0, 1] * 5, [1, 0] * 5)
    assert {frame.version for node in (1, 2) for frame in stage.requests(node)} == {0}
    assert stage.requests(1, API_VERSIONS) == []


def test_an_answer_for_other_partitions_ends_the_connection() -> None:
    stage = Stage(cluster=Cluster(1, {"t": 1}))
    stage.send(b"0")
    stage.settle()
    stage.cluster.brokers[1].answering = False
    stage.send(b"1")
    stage.settle()
    (link,) = stage.loop.links.brokers.values()
    header = {"correlation_id": link.dialogue.waiting[0].correlation_id}
    frame = Frame("response", PRODUCE, link.version, header, {"responses": []})
    stage.wires[1].waiting.clear()
    stage.wires[1].answers += encode_frame(frame)
    stage.settle()
    assert stage.closes == [1]
    stage.cluster.brokers[1].answering = True
    stage.wait(500)
    assert stage.acknowledged == [b"0", b"1"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "the connection was lost"),
        (b"", "the broker did not answer in time"),
        (b"\0\0\0\1", "the broker sends a frame of 1 bytes"),
    ],
)
def test_a_batch_that_is_given_up_says_what_was_wrong_with_the_connection(
    answer: bytes | None, says: str
) -> None:
    stage = Stage(Settings(retries=0, answer_timeout_ms=1000), Cluster(1, {"t": 1}))
    stage.send(b"0")
    stage.settle()
    stage.cluster.brokers[1].answering = False
    stage.send(b"1")
    stage.settle()
    if answer is None:
        stage.cut(1)
    else:
        stage.wires[1].answers += answer
    stage.wait(1000)
    assert stage.problems == {b"1": says}


def test_the_end_says_of_everything_that_it_was_not_sent() -> None:
    stage = silent_stage(Settings(in_flight=1, batch_messages=1))
    stage.send_numbered(3)
    stage.settle()
    stage.do(Loop.give_up)
    assert stage.problems == dict.fromkeys(numbered(3), "the producer was closed")
    assert stage.intake.outstanding == 0


def test_the_steps_are_the_document_s() -> None:
    assert [says for says, _ in STEPS] == [
        "configure any new broker connections",
        "select readable keys",
        "handle responses",
        "select writable keys",
        "handle topic metadata requests, if there are non-zero partitions in error",
        "handle incomplete requests",
        "handle retries, if any",
        "handle new requests",
    ]


def test_what_an_answer_makes_room_for_is_written_in_the_same_round() -> None:
    """Because writable keys are selected behind the responses."""
    stage = silent_stage(Settings(in_flight=1, batch_messages=1))
    stage.send(b"in flight")
    stage.settle()
    stage.send(b"waits")
    stage.settle()
    stage.cluster.brokers[1].answering = True
    stage.turn()
    assert stage.acknowledged == [b"first", b"in flight"]
    assert len(stage.wires[1].waiting) == 1


def test_a_broker_gets_one_request_a_round_retries_first() -> None:
    stage = Stage(Settings(retry_backoff_ms=10, batch_messages=1), Cluster(1, {"t": 2}))
    stage.send(b"first", partition=0)
    stage.settle()
    stage.cluster.brokers[1].errors.append(19)
    stage.send(b"again", partition=0)
    stage.settle()
    stage.cluster.brokers[1].answering = False
    stage.now += 0.1
    stage.send(b"new", partition=1)
    stage.turn()
    (link,) = stage.loop.links.brokers.values()
    assert [list(sent.batches) for sent in link.in_flight] == [[("t", 0)]]
    stage.turn()
    assert [list(sent.batches) for sent in link.in_flight] == [[("t", 0)], [("t", 1)]]
