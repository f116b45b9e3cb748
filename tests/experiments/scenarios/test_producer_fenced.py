from __future__ import annotations

import pytest
from confluent_kafka import KafkaException

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError
from tests.experiments.scenarios.kafka import JAVA, fired, made_topic, numbers, read_log, through
from tests.experiments.scenarios.transactions import transact, transactional

pytestmark = pytest.mark.needs_apache("4.3.1")

UNSENT, UNSEEN, LAST = numbers(3), numbers(3, 3), numbers(3, 6)


def fenced(proxy: Harness, *apis: str) -> None:
    """Once in each of these, and who was fenced did not abort."""
    told = [(one.api, one.error) for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert told == [(api, "PRODUCER_FENCED") for api in apis]
    ended = [one.request for one in proxy.exchanges if one.api == "EndTxn"]
    assert [one["committed"] for one in ended if one is not None] == [True, True]


def test_librdkafka_is_done_with_wherever_it_is_told(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "fenced")
    with through("producer-fenced", cluster.bootstrap) as proxy:
        for values in ([], UNSENT, UNSEEN):
            with pytest.raises(KafkaException, match="_FENCED") as told:
                transact(transactional(proxy.bootstrap, topic), topic, values)
            assert told.value.args[0].fatal()
        transact(transactional(proxy.bootstrap, topic), topic, LAST)
    fenced(proxy, "InitProducerId", "AddPartitionsToTxn", "EndTxn")
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: LAST}
    assert read_log(cluster.bootstrap, topic) == {0: UNSEEN + LAST}


def test_java_is_done_with_wherever_it_is_told(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "fenced-java")
    with through("producer-fenced", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
        with pytest.raises(JavaError, match="ProducerFencedException"):
            java.transact(topic, [(UNSENT, "commit")], settings=settings)
        told = java.transact(topic, [(UNSEEN, "commit"), (UNSENT, "commit")], settings=settings)
        assert told == [["ProducerFencedException"] * 2]  # the abort fails, and no other one begins
        assert java.transact(topic, [(LAST, "commit")], settings=settings) == [[]]
    fenced(proxy, "InitProducerId", "EndTxn")
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: LAST}
    assert read_log(cluster.bootstrap, topic) == {0: UNSEEN + LAST}
