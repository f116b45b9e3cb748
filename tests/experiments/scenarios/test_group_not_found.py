"""The coordinator has lost a group of the new protocol."""

from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError
from tests.experiments.scenarios.groups import CONSUMER
from tests.experiments.scenarios.kafka import (
    JAVA,
    configure_group,
    fired,
    made_topic,
    numbers,
    receive,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(10)


def gone(proxy: Harness) -> None:
    """Its member says nothing more, and joins no more."""
    (told,) = fired(proxy, "the group is gone")
    assert (told.api, told.error) == ("ConsumerGroupHeartbeat", "GROUP_ID_NOT_FOUND")
    assert told.request is not None
    beats = [one for one in proxy.exchanges if one.api == told.api and one.request is not None]
    own = [one for one in beats if (one.request or {})["member_id"] == told.request["member_id"]]
    assert max(own, key=lambda one: one.ts) is told


def made(cluster: ApacheCluster, name: str) -> str:
    topic = made_topic(cluster.bootstrap, name)
    configure_group(cluster.bootstrap, topic, {"consumer.session.timeout.ms": "1000"})
    send(cluster.bootstrap, topic, VALUES)
    return topic


def test_confluent_kafka_ends_and_a_new_consumer_reads_on(cluster: ApacheCluster) -> None:
    topic = made(cluster, "group-gone")
    with through("group-not-found", cluster.bootstrap) as proxy:
        first = receive(proxy.bootstrap, topic, 0, CONSUMER, done=lambda found: bool(found.errors))
        send(cluster.bootstrap, topic, VALUES)
        second = receive(proxy.bootstrap, topic, len(VALUES), CONSUMER)
    gone(proxy)
    assert (first.values, first.errors) == (VALUES, ["_FATAL"])
    assert second.errors == []
    assert second.values[-len(VALUES) :] == VALUES


def test_java_ends_and_a_new_consumer_reads_on(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made(cluster, "group-gone-java")
    with through("group-not-found", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap, "group.protocol": "consumer"}
        with pytest.raises(JavaError, match="GroupIdNotFoundException"):
            java.consume(topic, 2 * len(VALUES), group=topic, settings=settings)
        received = java.consume(topic, len(VALUES), group=topic, settings=settings)
    gone(proxy)
    assert [one.value for one in received] == VALUES
