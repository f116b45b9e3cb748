"""Which topics metadata are asked for, and until when."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.designs.pipelined_producer.peers.steps import wants_write
from barnabas.specs.keys import METADATA
from tests.designs.pipelined_producer.peers.stage import Cluster, Stage


def asked_for(stage: Stage) -> list[list[str]]:
    """The topics of each Metadata request."""
    return [
        [topic["name"] for topic in frame.body["topics"]] for frame in stage.requests(1, METADATA)
    ]


@pytest.mark.parametrize("error", [17, 29], ids=["can't be", "not allowed"])
@pytest.mark.parametrize("metadata", ["blocking", "non-blocking"])
def test_a_topic_that_was_refused_is_let_go(error: int, metadata: Any) -> None:
    stage = Stage(Settings(metadata=metadata, metadata_refresh_ms=1000), Cluster(1, {"t": 1}))
    stage.cluster.topic_errors["bad"] = error
    stage.send(b"good")
    stage.wait(200)
    stage.send(b"0", topic="bad")
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


def test_there_is_nothing_to_ask_for_without_a_topic() -> None:
    """Also if something says that the view is wrong: no bytes are waited for that nobody would write."""
    stage = Stage(Settings(metadata_refresh_ms=1000), Cluster(1, {"t": 1}))
    stage.cluster.topic_errors["bad"] = 17
    stage.send(b"0", topic="bad")
    stage.settle()
    stage.loop.refresher.stale = True
    assert wants_write(stage.loop) == set()
    stage.wait(5000)
    assert asked_for(stage) == [["bad"]]
