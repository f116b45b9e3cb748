"""What becomes of messages: acknowledged, sent again, or given up; what is said of each."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.pipelined_producer.peers.settings import Settings
from tests.designs.pipelined_producer.peers.stage import Cluster, Stage

both = pytest.mark.parametrize("queueing", ["partition", "one"])


def test_with_several_in_flight_a_retry_lies_behind_what_was_in_flight() -> None:
    """The document: ordering is maintained per partition, if there are no retries."""
    stage = Stage(Settings(in_flight=3, batch_messages=1), Cluster(1, {"t": 1}))
    stage.send(b"first")
    stage.settle()
    broker = stage.cluster.brokers[1]
    broker.answering = False
    broker.errors.append(19)
    stage.send_numbered(6)
    stage.settle()
    broker.answering = True
    stage.wait(500)
    # 0 was refused, 1 and 2 were in flight; what was still in the queue came behind the retry
    assert stage.cluster.logs["t", 0] == [b"first", b"1", b"2", b"0", b"3", b"4", b"5"]


@pytest.mark.parametrize(
    ("settings", "errors", "says", "requests"),
    [
        pytest.param({"retries": 2}, [19] * 3, "NOT_ENOUGH_REPLICAS", 3, id="so many retries"),
        pytest.param({}, [10], "MESSAGE_TOO_LARGE", 1, id="an error that stays"),
        pytest.param(
            {"expiry_ms": 1000, "retries": 1000},
            [7, *[19] * 100],
            "expired: NOT_ENOUGH_REPLICAS",
            10,
            id="the last error before it was too old",
        ),
    ],
)
def test_a_message_that_is_refused_is_given_up_at_last(
    settings: dict[str, Any], errors: list[int], says: str, requests: int
) -> None:
    stage = Stage(Settings(**settings), Cluster(1, {"t": 1}))
    stage.cluster.brokers[1].errors.extend(errors)
    stage.send(b"0")
    stage.wait(1100)
    assert stage.problems == {b"0": says}
    assert [outcome.error for outcome in stage.outcomes] == errors[-1:]
    assert len(stage.requests(1)) == requests


@both
def test_what_is_too_old_is_given_up_and_why_it_waited_is_told(queueing: str) -> None:
    stage = Stage(Settings(queueing=queueing, expiry_ms=1000))  # type: ignore[arg-type]
    stage.cluster.leaders["t", 0] = -1
    stage.send(b"old", partition=0)
    stage.wait(500)
    stage.send(b"younger", partition=0)
    stage.send(b"fine", partition=1)
    stage.wait(499)
    assert stage.problems == {}
    stage.wait(2)
    says = "expired: LEADER_NOT_AVAILABLE"
    assert stage.problems == {b"old": says}
    stage.wait(500)
    assert stage.problems == {b"old": says, b"younger": says}
    assert stage.acknowledged == [b"fine"]
    assert {outcome.error for outcome in stage.outcomes if outcome.problem} == {5}


# partitions that do not exist


@both
def test_a_partition_that_is_not_there_is_told_when_metadata_are_known(queueing: str) -> None:
    stage = Stage(Settings(queueing=queueing))  # type: ignore[arg-type]
    stage.send(b"wrong", partition=2)
    stage.send(b"right", partition=1)
    stage.settle()
    assert stage.problems == {b"wrong": "no partition 2: t has 2"}
    assert [outcome.error for outcome in stage.outcomes if outcome.problem] == [3]
    assert stage.acknowledged == [b"right"]


def test_what_was_known_before_a_message_is_asked_for_anew() -> None:
    """There may be more partitions by now."""
    stage = Stage()
    stage.send(b"first")
    stage.wait(200)
    stage.cluster.leaders["t", 2] = 1
    stage.send(b"new", partition=2)
    stage.send(b"wrong", partition=3)
    stage.wait(200)
    assert stage.acknowledged == [b"first", b"new"]
    assert stage.problems == {b"wrong": "no partition 3: t has 3"}
