from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    at_once,
    fired,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    spread,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

DOWN = 0.7
"""Seconds that the link is down."""
SECONDS = 3.5
"""One such time begins after 2 s."""


def test_librdkafka_connects_again(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "flapping", 3)
    values = numbers(300)
    with through("flapping-network", cluster.bootstrap) as proxy:
        sent, received = at_once(
            lambda: send(proxy.bootstrap, topic, values, partitions=3, seconds=SECONDS),
            lambda: receive(proxy.bootstrap, topic, len(values)),
        )
    assert sent.failed == {}
    assert sent.seconds < SECONDS + 10
    assert read_log(cluster.bootstrap, topic) == spread(values, 3)
    assert received.errors == []
    assert {*received.values} == {*values}
    assert fired(proxy, "the link is down")
    waited = [exchange.latency_ms or 0 for exchange in proxy.exchanges]
    assert max(waited) > 0.9 * DOWN * 1000
    assert fired(proxy, "connections that did not survive")


def test_java_connects_again(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "flapping-java")
    with through("flapping-network", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        took = java.pace(topic, 300, size=1, rate=100, settings=settings)
    assert len(took) == 300
    assert max(took) > 0.9 * DOWN * 1e6
    assert read_log(cluster.bootstrap, topic) == {0: [b"x"] * 301}
    assert fired(proxy, "connections that did not survive")
