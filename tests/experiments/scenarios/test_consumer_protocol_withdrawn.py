"""Brokers do not take the heartbeats of the new group protocol any longer."""

from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError
from tests.experiments.scenarios.groups import CLASSIC, CONSUMER
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


def made(cluster: ApacheCluster, name: str) -> str:
    topic = made_topic(cluster.bootstrap, name)
    configure_group(cluster.bootstrap, topic, {"consumer.session.timeout.ms": "1000"})
    send(cluster.bootstrap, topic, VALUES)
    return topic


def withdrawn(proxy: Harness) -> None:
    """The first heartbeat that is refused is the last one: nobody is offered it then."""
    beats = [one for one in proxy.exchanges if one.api == "ConsumerGroupHeartbeat"]
    last = max(beats, key=lambda one: one.ts)
    assert fired(proxy, "heartbeats are not supported") == [last]
    assert last.error == "UNSUPPORTED_VERSION"
    offers = fired(proxy, "heartbeats are not offered")
    assert offers
    assert {one.api for one in offers} == {"ApiVersions"}


def test_confluent_kafka_is_told_and_goes_on_with_the_classic_protocol(
    cluster: ApacheCluster,
) -> None:
    topic = made(cluster, "withdrawn")
    with through("consumer-protocol-withdrawn", cluster.bootstrap) as proxy:
        first = receive(proxy.bootstrap, topic, 0, CONSUMER, done=lambda found: bool(found.errors))
        second = receive(proxy.bootstrap, topic, len(VALUES), CLASSIC)
    withdrawn(proxy)
    assert (first.values, first.errors) == (VALUES, ["_FATAL"])
    assert (second.values, second.errors) == (VALUES, [])


def test_java_is_told_by_heartbeats_and_by_what_is_offered(
    cluster: ApacheCluster, java: JavaClient
) -> None:
    topic = made(cluster, "withdrawn-java")
    with through("consumer-protocol-withdrawn", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        consumer = {**settings, "group.protocol": "consumer"}
        for _ in ("refused", "not offered"):
            with pytest.raises(JavaError, match="UnsupportedVersionException"):
                java.consume(topic, 2 * len(VALUES), group=topic, settings=consumer)
        received = java.consume(topic, len(VALUES), group=topic, settings=settings)
    withdrawn(proxy)
    assert [one.value for one in received] == VALUES
