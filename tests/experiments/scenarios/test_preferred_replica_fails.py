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
from tests.experiments.scenarios.leaders import asked

pytestmark = pytest.mark.needs_apache("4.3.1")

RULES = {
    "the leader prefers broker 2": (1, ""),
    "the leader prefers a broker that is gone": (1, ""),
    "the follower has not got that far": (2, "OFFSET_NOT_AVAILABLE"),
    "the follower is no replica any more": (2, "REPLICA_NOT_AVAILABLE"),
}
VALUES = numbers(60)


def read_from_both(proxy: Harness) -> None:
    for rule, (broker, error) in RULES.items():
        found = {(one.api, one.broker, one.error) for one in fired(proxy, rule)}
        assert found == {("Fetch", broker, error)}
    assert asked(proxy, "Fetch") == {1, 2}


def test_librdkafka_goes_back_to_the_leader(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "replica-fails", replicas=2)
    with through("preferred-replica-fails", cluster.bootstrap) as proxy:
        _, received = at_once(
            lambda: send(cluster.bootstrap, topic, VALUES, seconds=1),
            lambda: receive(proxy.bootstrap, topic, len(VALUES), FEW),
        )
    read_from_both(proxy)
    assert received.errors == []
    assert received.values == VALUES


def test_java_goes_back_to_the_leader(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "replica-fails-java", replicas=2)
    send(cluster.bootstrap, topic, VALUES)
    with through("preferred-replica-fails", cluster.bootstrap) as proxy:
        settings = {**JAVA, **JAVA_FEW, "bootstrap.servers": proxy.bootstrap}
        received = java.consume(topic, len(VALUES), group=topic, settings=settings)
    read_from_both(proxy)
    assert [one.value for one in received] == VALUES
