from __future__ import annotations

import pytest
from confluent_kafka import KafkaException

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError
from tests.experiments.scenarios.kafka import (
    JAVA,
    at_once,
    fired,
    made_topic,
    numbers,
    read_log,
    through,
    until,
)
from tests.experiments.scenarios.transactions import transact, transactional

pytestmark = pytest.mark.needs_apache("4.3.1")

HELD = "the first producer stands still before it commits"
FIRST, ZOMBIE, SECOND = numbers(3), numbers(3, 3), numbers(3, 6)
FENCED = {"INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "INVALID_TXN_STATE"}


def second_producer(proxy: Harness, topic: str) -> None:
    """Begins when the first one stands before its second commit."""
    (rule,) = proxy.rules.rules
    until(lambda: rule.fired, "the first producer stands still")
    transact(transactional(proxy.bootstrap, topic), topic, SECOND)


def held_back(proxy: Harness) -> None:
    """What stood still left when the second producer had its epoch, long before the time was up."""
    (rule,) = proxy.rules.rules
    assert (rule.fired, rule.released, rule.expired) == (1, 1, 0)
    (exchange,) = fired(proxy, HELD)
    assert exchange.api == "EndTxn"
    assert {one.error for one in proxy.exchanges if one.api == "EndTxn"} & FENCED


def what_is_left(cluster: ApacheCluster, topic: str) -> None:
    """The zombie's records are there, and no reader of committed ones sees them."""
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: FIRST + SECOND}
    assert read_log(cluster.bootstrap, topic) == {0: FIRST + ZOMBIE + SECOND}


def test_librdkafka_is_fenced_for_good(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "zombie")
    with through("zombie-producer-fenced", cluster.bootstrap) as proxy:
        first = transactional(proxy.bootstrap, topic)
        transact(first, topic, FIRST)

        def zombie() -> None:
            with pytest.raises(KafkaException, match="fenced by a newer instance") as told:
                transact(first, topic, ZOMBIE)
            assert told.value.args[0].fatal()
            with pytest.raises(KafkaException):
                first.begin_transaction()

        at_once(zombie, lambda: second_producer(proxy, topic))
    held_back(proxy)
    what_is_left(cluster, topic)


def test_java_is_fenced(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "zombie-java")
    with through("zombie-producer-fenced", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
        java.produce(topic, FIRST, settings=settings, outcome="commit")

        def zombie() -> None:
            with pytest.raises(JavaError, match=r"ProducerFenced|InvalidTxnState"):
                java.produce(topic, ZOMBIE, settings=settings, outcome="commit")

        at_once(zombie, lambda: second_producer(proxy, topic))
    held_back(proxy)
    what_is_left(cluster, topic)
