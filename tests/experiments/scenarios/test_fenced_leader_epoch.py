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
    receive,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

RULES = {
    "the consumer's epoch is over": "FENCED_LEADER_EPOCH",
    "the broker does not know the consumer's epoch yet": "UNKNOWN_LEADER_EPOCH",
}
VALUES = numbers(60)


def refused(proxy: Harness) -> None:
    """Fetches were refused; metadata was asked for again, an offset was not."""
    for rule, error in RULES.items():
        assert {(one.api, one.error) for one in fired(proxy, rule)} == {("Fetch", error)}
    first = min(one.ts for one in fired(proxy, "the consumer's epoch is over"))
    assert [one for one in proxy.exchanges if one.api == "Metadata" and one.ts > first]
    assert sum(one.api == "ListOffsets" for one in proxy.exchanges) == 1


def test_librdkafka_fetches_again(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "fenced-epoch")
    with through("fenced-leader-epoch", cluster.bootstrap) as proxy:
        _, received = at_once(
            lambda: send(cluster.bootstrap, topic, VALUES, seconds=1),
            lambda: receive(proxy.bootstrap, topic, len(VALUES), FEW),
        )
    refused(proxy)
    assert received.errors == []
    assert received.values == VALUES


def test_java_fetches_again(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "fenced-epoch-java")
    with through("fenced-leader-epoch", cluster.bootstrap) as proxy:
        settings = {**JAVA, **JAVA_FEW, "bootstrap.servers": proxy.bootstrap}
        _, received = at_once(
            lambda: send(cluster.bootstrap, topic, VALUES, seconds=1),
            lambda: java.consume(topic, len(VALUES), group=topic, settings=settings),
        )
    refused(proxy)
    assert [one.value for one in received] == VALUES
