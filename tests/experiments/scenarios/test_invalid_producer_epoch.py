from __future__ import annotations

import pytest
from confluent_kafka import KafkaException

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import JAVA, fired, made_topic, numbers, read_log, through
from tests.experiments.scenarios.transactions import transact, transactional

pytestmark = pytest.mark.needs_apache("4.3.1")

FIRST, REFUSED, LAST = numbers(3), numbers(3, 3), numbers(3, 6)


def refused(proxy: Harness) -> None:
    """Once, and it was not sent again."""
    (produce,) = fired(proxy, "the leader knows a newer epoch")
    assert (produce.api, produce.error) == ("Produce", "INVALID_PRODUCER_EPOCH")
    assert len([one for one in proxy.exchanges if one.api == "Produce"]) == 3


def test_java_aborts_and_goes_on(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "invalid-epoch-java")
    with through("invalid-producer-epoch", cluster.bootstrap) as proxy:
        settings = {"bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
        told = java.transact(
            topic,
            [(FIRST, "commit"), (REFUSED, "commit"), (LAST, "commit")],
            settings={**JAVA, **settings},
        )
    refused(proxy)
    assert told == [[], ["InvalidProducerEpochException"], []]
    ended = [
        one.request["committed"]
        for one in proxy.exchanges
        if one.api == "EndTxn" and one.request and not one.error
    ]
    assert ended == [True, False, True]
    assert read_log(cluster.bootstrap, topic) == {0: FIRST + LAST}


def test_librdkafka_takes_itself_for_fenced(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "invalid-epoch")
    with through("invalid-producer-epoch", cluster.bootstrap) as proxy:
        producer = transactional(proxy.bootstrap, topic)
        transact(producer, topic, FIRST)
        with pytest.raises(KafkaException, match="_FENCED") as told:
            transact(producer, topic, REFUSED)
        assert told.value.args[0].fatal()
        transact(transactional(proxy.bootstrap, topic), topic, LAST)
    refused(proxy)
    assert read_log(cluster.bootstrap, topic) == {0: FIRST + LAST}
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: FIRST + LAST}
