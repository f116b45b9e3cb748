"""Whatever a broker answers: its connection is closed, or what it says is taken; nothing hangs or breaks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.designs.pipelined_producer.peers.links import METADATA
from barnabas.designs.pipelined_producer.peers.settings import Settings
from tests.designs.pipelined_producer.peers.stage import Broker, Cluster, Stage, numbered

LIMITS = Settings(answer_timeout_ms=500, expiry_ms=2000, retries=2, retry_backoff_ms=50)


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


@given(
    at=st.integers(0, 6),
    data=st.binary(min_size=1, max_size=80),
    how=st.sampled_from(("instead", "behind the id", "flipped")),
)
@settings(max_examples=60)
def test_any_answer_ends_in_a_report_of_every_message(at: int, data: bytes, how: str) -> None:
    """The answers of a producer's first seconds, one of them replaced or changed."""
    stage = Stage(LIMITS, Cluster(2, {"t": 2}))
    for value in numbered(4):
        stage.send(value)
    answers = 0
    for _ in range(60):
        for wire in stage.wires.values():
            wire.work()
            if not wire.answers:
                continue
            if answers == at:
                whole = bytes(wire.answers)
                changed = {
                    "instead": data,
                    "behind the id": (len(data) + 4).to_bytes(4, "big") + whole[4:8] + data,
                    "flipped": bytes(
                        byte ^ data[number % len(data)] if number >= 8 else byte
                        for number, byte in enumerate(whole)
                    ),
                }[how]
                wire.answers[:] = changed
            answers += 1
        stage.turn()
        if answers > at:
            break
    stage.wait(6000)
    assert len(stage.outcomes) == 4
    assert stage.intake.outstanding == 0
    assert all(link.state != "connecting" for link in stage.loop.links.brokers.values())
