from __future__ import annotations

import pytest

from barnabas.harness import Harness
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

VALUES = numbers(60)


def asked_again(proxy: Harness, version: int) -> None:
    """In that version, on each connection on which another one was refused; some were closed."""
    refused = fired(proxy, "only older versions are known")
    assert {(one.api, one.error) for one in refused} == {("ApiVersions", "UNSUPPORTED_VERSION")}
    connections = {one.connection for one in refused}
    for connection in connections:
        answers = [
            (one.version, one.error)
            for one in proxy.exchanges
            if one.connection == connection and one.api == "ApiVersions" and not one.rules
        ]
        assert answers == [(version, "")]
    closed = fired(proxy, "the connection is closed")
    assert {(one.api, one.latency_ms) for one in closed} == {("ApiVersions", None)}
    assert connections.isdisjoint(one.connection for one in closed)
    assert proxy.proxy.totals.undecoded == 0


def test_librdkafka_asks_in_version_0(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "versions-refused", 3)
    with through("api-versions-refused", cluster.bootstrap) as proxy:
        sent, received = at_once(
            lambda: send(proxy.bootstrap, topic, VALUES, partitions=3),
            lambda: receive(proxy.bootstrap, topic, len(VALUES)),
        )
    asked_again(proxy, 0)
    assert sent.failed == {}
    assert received.errors == []
    assert sorted(received.values) == sorted(VALUES)
    assert read_log(cluster.bootstrap, topic) == spread(VALUES, 3)


def test_java_asks_in_the_version_that_is_offered(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "versions-refused-java")
    with through("api-versions-refused", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        java.produce(topic, VALUES, settings=settings)
        received = java.consume(topic, len(VALUES), group=topic, settings=settings)
    asked_again(proxy, 2)
    assert [one.value for one in received] == VALUES
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}
