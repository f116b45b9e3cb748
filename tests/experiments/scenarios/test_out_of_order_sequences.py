from __future__ import annotations

import pytest
from confluent_kafka import KafkaException

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    PLAIN,
    SINGLY,
    fired,
    made_topic,
    numbers,
    read_log,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

OVERTAKEN = "a produce request is overtaken by the next one"


def test_java_sends_again_and_keeps_the_order(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "out-of-order")
    values = numbers(100)
    with through("out-of-order-sequences", cluster.bootstrap) as proxy:
        settings = {**JAVA, **SINGLY, "bootstrap.servers": proxy.bootstrap}
        java.produce(topic, values, settings=settings)
    assert len(fired(proxy, OVERTAKEN)) > 1
    produced = [exchange.error for exchange in proxy.exchanges if exchange.api == "Produce"]
    assert {*produced} == {"", "OUT_OF_ORDER_SEQUENCE_NUMBER"}
    assert read_log(cluster.bootstrap, topic) == {0: values}


def test_librdkafka_stops_for_good_and_what_it_stored_is_in_order(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "out-of-order-librdkafka")
    values = numbers(200)
    with through("out-of-order-sequences", cluster.bootstrap) as proxy:
        with pytest.raises(KafkaException, match="OUT_OF_ORDER_SEQUENCE_NUMBER") as told:
            send(proxy.bootstrap, topic, values, seconds=2)
        assert told.value.args[0].fatal()
    assert fired(proxy, OVERTAKEN)
    (stored,) = read_log(cluster.bootstrap, topic).values()
    assert len(stored) > 3
    assert stored == values[: len(stored)]


def test_without_idempotence_nobody_notices(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "out-of-order-plain")
    values = numbers(50)
    with through("out-of-order-sequences", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values, PLAIN)
    assert sent.failed == {}
    assert {exchange.error for exchange in proxy.exchanges if exchange.api == "Produce"} == {""}
    (stored,) = read_log(cluster.bootstrap, topic).values()
    assert stored != values
    assert sorted(stored) == sorted(values)
