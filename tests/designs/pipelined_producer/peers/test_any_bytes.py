"""Whatever a broker answers: its connection is closed, or what it says is taken; nothing hangs or breaks."""

from __future__ import annotations

import pytest

from barnabas.designs.pipelined_producer.peers.links import METADATA
from barnabas.designs.pipelined_producer.peers.settings import Settings
from tests.designs.pipelined_producer.peers.stage import Broker, Cluster, Stage

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
