from __future__ import annotations

import pytest

from peers.apache import ApacheCluster
from peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    IDEMPOTENT,
    JAVA,
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
SECONDS = 3.5


def test_librdkafka_asks_again_until_it_is_told_who_leads(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "disagree", 3)
    values = numbers(300)
    often = {**IDEMPOTENT, "topic.metadata.refresh.interval.ms": 100}
    with through("brokers-disagree", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values, often, partitions=3, seconds=SECONDS)
    mistaken = fired(proxy, RULE)
    assert {(exchange.api, exchange.broker) for exchange in mistaken} == {("Metadata", 1)}
    refused = [one for one in proxy.exchanges if one.api == "Produce" and one.error]
    assert {(one.broker, one.error) for one in refused} == {(1, "NOT_LEADER_OR_FOLLOWER")}
    assert sent.failed == {}
    assert sent.seconds < SECONDS + 3
    assert read_log(cluster.bootstrap, topic) == spread(values, 3)


def test_java_believes_the_refusal(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "disagree-java", leader=2)
    with through("brokers-disagree", cluster.bootstrap) as proxy:
        often = {**JAVA, "metadata.max.age.ms": "100", "bootstrap.servers": proxy.bootstrap}
        took = java.pace(topic, 300, size=1, rate=90, settings=often)
    assert len(took) == 300
    assert fired(proxy, RULE)
    refused = [one for one in proxy.exchanges if one.api == "Produce" and one.error]
    assert {(one.broker, one.error) for one in refused} == {(1, "NOT_LEADER_OR_FOLLOWER")}
    assert sum(map(len, read_log(cluster.bootstrap, topic).values())) == 301
