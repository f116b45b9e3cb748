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
    through,
)
from tests.experiments.scenarios.leaders import asked, move_leader

pytestmark = pytest.mark.needs_apache("4.3.1")

PRODUCED = "a refused produce names a former leader"
FETCHED = "a refused fetch names a former leader"
VALUES = numbers(60)


def moved(cluster: ApacheCluster, name: str) -> str:
    """A topic that broker 1 has never led, whose leader epoch is not the first one."""
    topic = made_topic(cluster.bootstrap, name, leader=2)
    move_leader(cluster, topic, 3)
    return topic


def refused(proxy: Harness) -> None:
    """Both were told of broker 1, in an epoch that is over."""
    for rule, api in ((PRODUCED, "Produce"), (FETCHED, "Fetch")):
        found = fired(proxy, rule)
        assert {(one.api, one.error) for one in found} == {(api, "NOT_LEADER_OR_FOLLOWER")}
        for one in found:
            assert "'current_leader': {'leader_id': 1, 'leader_epoch': 0" in str(one.response)


def test_librdkafka_does_not_go_there(cluster: ApacheCluster) -> None:
    topic = moved(cluster, "stale-hint")
    with through("stale-leader-hint", cluster.bootstrap) as proxy:
        sent, received = at_once(
            lambda: send(proxy.bootstrap, topic, VALUES, seconds=1),
            lambda: receive(proxy.bootstrap, topic, len(VALUES), FEW),
        )
    refused(proxy)
    assert asked(proxy, "Produce", "Fetch") == {3}
    assert sent.failed == {}
    assert received.errors == []
    assert received.values == VALUES
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_java_does_not_go_there(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = moved(cluster, "stale-hint-java")
    with through("stale-leader-hint", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        java.produce(topic, VALUES, settings=settings | SINGLY)
        received = java.consume(topic, len(VALUES), group=topic, settings=settings | JAVA_FEW)
    refused(proxy)
    assert asked(proxy, "Produce", "Fetch") == {3}
    assert [one.value for one in received] == VALUES
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}
