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
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(80)


def began_again(proxy: Harness) -> None:
    """The bootstrap servers, whose ids nobody knows, were asked behind the first refusal."""
    found = fired(proxy, "begin again with the bootstrap servers")
    assert {(one.api, one.error) for one in found} == {("Metadata", "REBOOTSTRAP_REQUIRED")}
    first = min(one.ts for one in found)
    bootstrap = [one for one in proxy.exchanges if one.broker is None and one.ts > first]
    assert [one for one in bootstrap if one.api == "Metadata"]


def test_librdkafka_begins_again(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "rebootstrap")
    often = {"topic.metadata.refresh.interval.ms": 200}
    with through("rebootstrap-required", cluster.bootstrap) as proxy:
        sent, received = at_once(
            lambda: send(proxy.bootstrap, topic, VALUES, often, seconds=2),
            lambda: receive(proxy.bootstrap, topic, len(VALUES), often),
        )
    began_again(proxy)
    assert sent.failed == {}
    assert received.errors == []
    assert received.values == VALUES
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_java_begins_again(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "rebootstrap-java")
    with through("rebootstrap-required", cluster.bootstrap) as proxy:
        often = {**JAVA, "metadata.max.age.ms": "200"}
        settings = {**often, "bootstrap.servers": proxy.bootstrap}
        took = java.pace(topic, 80, size=1, rate=50, settings=settings)
    began_again(proxy)
    assert len(took) == 80
    assert read_log(cluster.bootstrap, topic) == {0: [b"x"] * 81}
