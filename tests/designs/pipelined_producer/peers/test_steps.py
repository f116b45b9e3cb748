"""The document's loop, line by line."""

from __future__ import annotations

from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.designs.pipelined_producer.peers.steps import STEPS
from tests.designs.pipelined_producer.peers.stage import Cluster, Stage, silent_stage

DOCUMENT = """
// configure any new broker connections

// select readable keys

// handle responses

// select writable keys

// handle topic metadata requests, if there are non-zero partitions in error

// handle incomplete requests

// handle retries, if any

// handle new requests
"""


def test_the_steps_are_the_document_s() -> None:
    lines = [line.removeprefix("// ") for line in DOCUMENT.split("\n") if line]
    assert [says for says, _ in STEPS] == lines


def waiting_for_room() -> Stage:
    """One request may be in flight, and is; another message waits. The answer is there."""
    stage = silent_stage(Settings(in_flight=1, batch_messages=1))
    stage.send(b"in flight")
    stage.settle()
    stage.send(b"waits")
    stage.settle()
    stage.cluster.brokers[1].answering = True
    return stage


def test_what_an_answer_makes_room_for_is_written_in_the_same_round() -> None:
    """Because writable keys are selected behind the responses."""
    stage = waiting_for_room()
    stage.turn()
    assert stage.acknowledged == [b"first", b"in flight"]
    assert len(stage.wires[1].waiting) == 1


def test_a_broker_that_no_longer_takes_bytes_behind_the_responses_gets_nothing() -> None:
    stage = waiting_for_room()
    stage.unwritable.add(1)
    stage.turn()
    assert stage.acknowledged == [b"first", b"in flight"]
    assert len(stage.wires[1].waiting) == 0


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
