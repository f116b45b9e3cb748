from __future__ import annotations

from typing import Final

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
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(80)
SECONDS = 2.5
"""A session lasts one."""

COMMON: Final = {"security.protocol": "SASL_PLAINTEXT"}
ALICE: Final = {"sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": "secret"}
JAVA_ALICE: Final = {
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": "org.apache.kafka.common.security.plain"
    '.PlainLoginModule required username="alice" password="secret";',
}


def with_sasl(cluster: ApacheCluster) -> str:
    """Where the brokers' second listeners are."""
    return ",".join(f"127.0.0.1:{broker.node.spare_port}" for broker in cluster.nodes.values())


def came_back(proxy: Harness) -> None:
    """Connections were closed on a request; nobody authenticated twice on one."""
    told = [one for one in proxy.exchanges if one.api == "SaslAuthenticate"]
    assert told == fired(proxy, "the client does not hear that its session ends")
    for one in told:
        assert one.response is not None
        assert one.response["session_lifetime_ms"] == 0
    assert len({one.connection for one in told}) == len(told)
    closed = [one.api for one in proxy.exchanges if one.latency_ms is None]
    assert {"Produce", "Metadata", "Fetch"} & {*closed}


def test_librdkafka_comes_back(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "sasl")
    with through("sasl-session-ends", with_sasl(cluster)) as proxy:
        sent, received = at_once(
            lambda: send(proxy.bootstrap, topic, VALUES, COMMON | ALICE, seconds=SECONDS),
            lambda: receive(proxy.bootstrap, topic, len(VALUES), COMMON | ALICE),
        )
    came_back(proxy)
    assert sent.failed == {}
    assert received.errors == []
    assert received.values == VALUES
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_java_comes_back(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "sasl-java")
    with through("sasl-session-ends", with_sasl(cluster)) as proxy:
        settings = {**JAVA, **COMMON, **JAVA_ALICE, "bootstrap.servers": proxy.bootstrap}
        took = java.pace(topic, 75, size=1, rate=30, settings=settings)
    came_back(proxy)
    assert len(took) == 75
    assert read_log(cluster.bootstrap, topic) == {0: [b"x"] * 76}
