from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    FEW,
    JAVA,
    JAVA_FEW,
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

VALUES = numbers(60)
READER = "fetched by an id that is gone", "a reader is told an id that is no topic's"
WRITER = "produced to an id that is gone", "a writer is told an id that is no topic's"


def refused(proxy: Harness, api: str, rule: str, told: str) -> None:
    """Once by the proxy, and then by the broker itself, for the id of which they had been told."""
    (gone,) = fired(proxy, rule)
    assert (gone.api, gone.error) == (api, "UNKNOWN_TOPIC_ID")
    assert [one.api for one in fired(proxy, told)] == ["Metadata"] * 2
    errors = [one.error for one in proxy.exchanges if one.api == api and one.ts > gone.ts]
    assert "UNKNOWN_TOPIC_ID" in errors


def test_librdkafka_reads_by_the_right_id(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "recreated")
    with through("topic-recreated", cluster.bootstrap) as proxy:
        _, received = at_once(
            lambda: send(cluster.bootstrap, topic, VALUES, seconds=1.5),
            lambda: receive(proxy.bootstrap, topic, len(VALUES), FEW),
        )
    refused(proxy, "Fetch", *READER)
    assert received.errors == []
    assert received.values == VALUES


def test_java_produces_and_reads_by_the_right_id(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "recreated-java")
    with through("topic-recreated", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        java.pace(topic, 60, size=1, rate=60, settings=settings)
        received, _ = at_once(
            lambda: java.consume(topic, 121, group=topic, settings=settings | JAVA_FEW),
            lambda: send(cluster.bootstrap, topic, VALUES, seconds=1.5),
        )
    refused(proxy, "Produce", *WRITER)
    refused(proxy, "Fetch", *READER)
    assert read_log(cluster.bootstrap, topic) == {0: [b"x"] * 61 + VALUES}
    assert [one.offset for one in received] == list(range(121))
