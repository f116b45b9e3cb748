from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    fired,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(20)
OFTEN = {"topic.metadata.refresh.interval.ms": 100}
RULES = {
    "nobody knows the topic": "UNKNOWN_TOPIC_OR_PARTITION",
    "its partitions have no leaders": "LEADER_NOT_AVAILABLE",
}


def waited(proxy: Harness) -> None:
    """They were told three times of each, and did nothing to the topic before that was over."""
    last = 0
    for rule, error in RULES.items():
        found = fired(proxy, rule)
        assert [(one.api, one.error) for one in found] == [("Metadata", error)] * 3
        last = max(last, *(one.ts for one in found))
    used = [one.ts for one in proxy.exchanges if one.api in ("Produce", "Fetch")]
    assert min(used) > last


def test_librdkafka_produces_when_it_is_there(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "not-known")
    with through("topic-not-known-yet", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES, OFTEN)
    waited(proxy)
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_librdkafka_says_so_and_reads_when_it_is_there(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "not-known-read")
    send(cluster.bootstrap, topic, VALUES)
    with through("topic-not-known-yet", cluster.bootstrap) as proxy:
        received = receive(proxy.bootstrap, topic, len(VALUES), OFTEN)
    waited(proxy)
    assert received.errors == ["UNKNOWN_TOPIC_OR_PART"]
    assert received.values == VALUES


def test_java_produces_when_it_is_there(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "not-known-java")
    with through("topic-not-known-yet", cluster.bootstrap) as proxy:
        java.produce(topic, VALUES, settings={**JAVA, "bootstrap.servers": proxy.bootstrap})
    waited(proxy)
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_java_reads_when_it_is_there(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "not-known-java-read")
    send(cluster.bootstrap, topic, VALUES)
    with through("topic-not-known-yet", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        received = java.consume(topic, len(VALUES), group=topic, settings=settings)
    waited(proxy)
    assert [one.value for one in received] == VALUES
