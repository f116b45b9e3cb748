from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    QUICK,
    SINGLY,
    SOON,
    fired,
    made_topic,
    numbers,
    read_log,
    send,
    spread,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

RULE = "broker 1 believes that it leads"


def refused(proxy: Harness) -> set[tuple[int | None, str | None]]:
    """Who refused Produce requests, and how."""
    return {
        (one.broker, one.error) for one in proxy.exchanges if one.api == "Produce" and one.error
    }


def test_librdkafka_asks_again_until_it_is_told_who_leads(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "disagree", 3)
    values = numbers(200)
    often = {"topic.metadata.refresh.interval.ms": 100}
    with through("brokers-disagree", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values, often, partitions=3, seconds=2)
    assert {(one.api, one.broker) for one in fired(proxy, RULE)} == {("Metadata", 1)}
    assert refused(proxy) == {(1, "NOT_LEADER_OR_FOLLOWER")}
    assert sent.failed == {}
    assert sent.seconds < 12
    assert read_log(cluster.bootstrap, topic) == spread(values, 3)


def test_java_asks_again_too(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "disagree-java", leader=2)
    values = numbers(10)
    with through("brokers-disagree", cluster.bootstrap) as proxy:
        known = AdminClient({**QUICK, "bootstrap.servers": proxy.bootstrap}).list_topics(
            timeout=SOON
        )
        mistaken = known.brokers[1]
        settings = {**JAVA, **SINGLY, "bootstrap.servers": f"{mistaken.host}:{mistaken.port}"}
        java.produce(topic, values, settings=settings)
    assert {(one.api, one.broker) for one in fired(proxy, RULE)} == {("Metadata", 1)}
    assert refused(proxy) == {(1, "NOT_LEADER_OR_FOLLOWER")}
    assert read_log(cluster.bootstrap, topic) == {0: values}
