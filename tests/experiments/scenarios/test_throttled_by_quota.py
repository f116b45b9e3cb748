from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    FEW,
    JAVA,
    JAVA_FEW,
    SINGLY,
    at_once,
    fired,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    silence,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

RULES = {"a producer is over its quota": "Produce", "a consumer is over its quota": "Fetch"}
VALUES = numbers(30)


def waited(proxy: Harness) -> None:
    """From who was throttled nothing was read until the time was over."""
    for rule, api in RULES.items():
        found = fired(proxy, rule)
        assert {one.api for one in found} == {api}
        for one in found:
            assert one.response is not None
            assert one.response["throttle_time_ms"] == 300
            assert silence(proxy, one) > 290


def test_librdkafka_waits_for_the_broker(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "throttled")
    with through("throttled-by-quota", cluster.bootstrap) as proxy:
        sent, received = at_once(
            lambda: send(proxy.bootstrap, topic, VALUES),
            lambda: receive(proxy.bootstrap, topic, len(VALUES), FEW),
        )
    waited(proxy)
    assert sent.failed == {}
    assert received.errors == []
    assert received.values == VALUES
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_java_waits(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "throttled-java")
    with through("throttled-by-quota", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        java.produce(topic, VALUES, settings=settings | SINGLY)
        received = java.consume(topic, len(VALUES), group=topic, settings=settings | JAVA_FEW)
    waited(proxy)
    assert [one.value for one in received] == VALUES
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}
