"""Metadata: which topics are asked for, until when, of whom, and who waits for them."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.pipelined_producer.peers.links import METADATA
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.specs.keys import METADATA as METADATA_KEY
from tests.designs.pipelined_producer.peers.stage import Broker, Cluster, Stage, numbered

LIMITS = Settings(answer_timeout_ms=500, expiry_ms=2000, retries=2, retry_backoff_ms=50)


def asked_for(stage: Stage) -> list[list[str]]:
    """The topics of each Metadata request."""
    return [
        [topic["name"] for topic in frame.body["topics"]]
        for frame in stage.requests(1, METADATA_KEY)
    ]


@pytest.mark.parametrize(
    ("error", "says"), [(17, "INVALID_TOPIC_EXCEPTION"), (29, "TOPIC_AUTHORIZATION_FAILED")]
)
@pytest.mark.parametrize("metadata", ["blocking", "non-blocking"])
def test_a_topic_that_was_refused_is_let_go(error: int, says: str, metadata: Any) -> None:
    stage = Stage(Settings(metadata=metadata, metadata_refresh_ms=1000), Cluster(1, {"t": 1}))
    stage.cluster.topic_errors["bad"] = error
    stage.send(b"good")
    stage.wait(200)
    stage.send(b"0", topic="bad")
    stage.settle()
    assert stage.problems == {b"0": says}
    stage.wait(2500)
    assert asked_for(stage) == [["t"], ["bad", "t"], ["t"], ["t"]]
    stage.send(b"1", topic="bad")  # it may be there by now
    stage.settle()
    assert asked_for(stage)[4:] == [["bad", "t"]]


def test_a_topic_that_nobody_makes_is_let_go_with_its_last_message() -> None:
    limits = Settings(expiry_ms=950, retry_backoff_ms=500, metadata_refresh_ms=1000)
    stage = Stage(limits, Cluster(1, {"t": 1}))
    stage.cluster.topic_errors["u"] = 3
    stage.send(b"good")
    stage.send(b"0", topic="u")
    stage.wait(900)
    assert asked_for(stage) == [["t", "u"], ["t", "u"]]
    stage.wait(2000)
    assert asked_for(stage)[2:] == [["t"], ["t"]]


def slow_metadata(metadata: str) -> Stage:
    """Topic t is known and is being sent to; then the first message for u, and nobody answers."""
    settings = Settings(metadata=metadata, batch_messages=1)  # type: ignore[arg-type]
    stage = Stage(settings, Cluster(2, {"t": 2, "u": 1}))
    stage.send(b"first", partition=1)
    stage.wait(200)
    stage.cluster.brokers[1].answering = False  # it is the one that is asked
    stage.send(b"u", topic="u")
    stage.settle()
    stage.send_numbered(5, partition=1)
    stage.settle()
    return stage


@pytest.mark.parametrize(("metadata", "others"), [("non-blocking", 5), ("blocking", 0)])
def test_metadata_hold_up_others_only_if_they_block(metadata: str, others: int) -> None:
    stage = slow_metadata(metadata)
    assert stage.cluster.logs["t", 1] == [b"first", *numbered(others)]
    stage.cluster.brokers[1].answering = True
    stage.settle()
    assert stage.cluster.logs["t", 1] == [b"first", *numbered(5)]
    assert stage.cluster.logs["u", 0] == [b"u"]


def standing_still() -> Stage:
    """Broker 1 does not answer for metadata, nor broker 2 what is in flight to it, for 500 ms now."""
    settings = Settings(metadata="blocking", answer_timeout_ms=1000)
    stage = Stage(settings, Cluster(2, {"t": 2, "u": 1}))
    stage.send(b"first", partition=1)
    stage.wait(200)
    stage.cluster.brokers[2].answering = False
    stage.send(b"in flight", partition=1)
    stage.wait(500)
    stage.cluster.brokers[1].answering = False
    stage.send(b"u", topic="u")
    return stage


@pytest.mark.parametrize("silent_ms", [700, 1500], ids=["then answered", "then given up"])
def test_an_answer_that_came_while_metadata_were_waited_for_is_not_late(silent_ms: int) -> None:
    stage = standing_still()
    stage.settle()
    stage.cluster.brokers[2].answering = True
    stage.wait(silent_ms)
    stage.cluster.brokers[1].answering = True
    stage.wait(1000)
    assert 2 not in stage.closes
    assert stage.cluster.logs["t", 1] == [b"first", b"in flight"]
    assert stage.acknowledged == [b"first", b"in flight", b"u"]


def test_metadata_are_asked_of_another_if_one_is_silent() -> None:
    stage = Stage(Settings(answer_timeout_ms=1000, metadata="blocking"), Cluster(2, {"t": 2}))
    stage.send(b"first", partition=1)
    stage.wait(200)
    stage.cluster.brokers[1].answering = False
    stage.send(b"u", topic="new")
    stage.wait(900)
    assert METADATA not in stage.closes
    stage.wait(500)
    assert METADATA in stage.closes
    assert stage.requests(2, METADATA_KEY) != []


def test_nothing_goes_to_a_new_leader_while_something_is_in_flight_to_the_old_one() -> None:
    stage = Stage(
        Settings(in_flight=3, metadata_refresh_ms=300), Cluster(3, {"t": 1}), bootstrap=(3,)
    )
    stage.send(b"0")
    stage.settle()
    stage.cluster.brokers[1].answering = False
    stage.send(b"1")
    stage.settle()
    stage.cluster.leaders["t", 0] = 2
    stage.wait(400)  # it is known by now
    stage.send(b"2")
    stage.wait(100)
    assert stage.requests(2) == []
    stage.cluster.brokers[1].answering = True
    stage.wait(500)
    assert stage.cluster.logs["t", 0] == [b"0", b"1", b"2"]
    assert stage.acknowledged == [b"0", b"1", b"2"]


@pytest.mark.parametrize("node", [-1, -2, -(1 << 31)])
def test_a_broker_with_a_number_of_our_own_ends_the_connection(node: int) -> None:
    """-1 is the connection for metadata, -2 the client's thread."""
    cluster = Cluster(1, {"t": 1})
    cluster.brokers[node] = Broker(cluster, node)
    cluster.leaders["t", 0] = node
    stage = Stage(LIMITS, cluster)
    stage.send(b"0")
    stage.wait(100)
    assert set(stage.closes) == {METADATA}
    assert stage.loop.links.brokers == {}
    stage.wait(2000)
    assert stage.problems == {b"0": "expired"}
