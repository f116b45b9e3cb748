"""Transactional producers that are fenced, or hang, before their transactions end."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import KafkaException

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaError
from tests.experiments.scenarios.expectations import errors
from tests.experiments.scenarios.java_client import ScenarioClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    at_once,
    fired,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    through,
)
from tests.experiments.scenarios.transactions import transact, transactional
from tests.waiting import until

pytestmark = pytest.mark.needs_apache("4.3.1")

ONE, TWO, LAST = numbers(3), numbers(3, 3), numbers(3, 6)
FENCED = {"INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "INVALID_TXN_STATE"}
HANGS = "the end of the transaction is late"


def fenced(proxy: Harness) -> list[str]:
    """Return the APIs in which a producer was fenced."""
    told = [(one.api, one.error) for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert {error for _, error in told} == {"PRODUCER_FENCED"}
    return [api for api, _ in told]


def test_librdkafka_is_fenced_when_it_begins(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "fenced")
    with through("producer-fenced", cluster.bootstrap) as proxy:
        with pytest.raises(KafkaException, match="_FENCED") as told:
            transact(transactional(proxy.bootstrap, topic), topic, ONE)
        assert told.value.args[0].fatal()
        transact(transactional(proxy.bootstrap, topic), topic, LAST)
    # its versions of the other APIs are older than PRODUCER_FENCED
    assert fenced(proxy) == ["InitProducerId"]
    assert read_log(cluster.bootstrap, topic) == {0: LAST}


def test_java_is_fenced_when_it_begins_and_when_it_ends(
    cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = made_topic(cluster.bootstrap, "fenced-java")
    with through("producer-fenced", cluster.bootstrap) as proxy:
        own = {**JAVA, "bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
        with pytest.raises(JavaError, match="ProducerFencedException"):
            java.transact(topic, [(ONE, "commit")], own)
        told = java.transact(topic, [(TWO, "commit"), (TWO, "commit")], own)
        assert told == [
            ["ProducerFencedException"] * 2
        ]  # the abort fails, too, and nothing is sent
        assert java.transact(topic, [(LAST, "commit")], own) == [[]]
    assert fenced(proxy) == ["InitProducerId", "EndTxn"]
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: LAST}
    assert read_log(cluster.bootstrap, topic) == {0: TWO + LAST}


def test_a_zombie_is_fenced_for_good(cluster: ApacheCluster) -> None:
    """It stands still before it commits; its records are there, and no reader of committed ones sees them."""
    topic = made_topic(cluster.bootstrap, "zombie")
    with through("zombie-producer-fenced", cluster.bootstrap) as proxy:
        (rule,) = proxy.rules.rules
        first = transactional(proxy.bootstrap, topic)
        transact(first, topic, ONE)

        def zombie() -> None:
            with pytest.raises(KafkaException, match="fenced by a newer instance") as told:
                transact(first, topic, TWO)
            assert told.value.args[0].fatal()
            with pytest.raises(KafkaException):
                first.begin_transaction()

        def second_producer() -> None:
            until(lambda: rule.fired, "the first producer stands still")
            transact(transactional(proxy.bootstrap, topic), topic, LAST)

        at_once(zombie, second_producer)
    # it left when the second producer had its epoch, long before the time was up
    assert (rule.fired, rule.released, rule.expired) == (1, 1, 0)
    (held,) = fired(proxy, "the first producer stands still before it commits")
    assert held.api == "EndTxn"
    assert errors(proxy, "EndTxn") & FENCED
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: ONE + LAST}
    assert read_log(cluster.bootstrap, topic) == {0: ONE + TWO + LAST}


def test_readers_of_committed_records_wait_for_who_hangs(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "hanging")
    everything = {0: ONE + TWO + LAST}
    with through("hanging-transaction", cluster.bootstrap) as proxy, ThreadPoolExecutor() as pool:
        producer = transactional(proxy.bootstrap, topic)
        transact(producer, topic, ONE)
        began = time.monotonic()
        hanging = pool.submit(transact, producer, topic, TWO)
        (rule,) = proxy.rules.rules
        until(lambda: rule.fired == 1, "the producer hangs before its commit")
        reading = pool.submit(
            receive, proxy.bootstrap, topic, 9, {"isolation.level": "read_committed"}
        )
        assert send(cluster.bootstrap, topic, LAST).failed == {}
        assert read_log(cluster.bootstrap, topic) == everything
        assert read_log(cluster.bootstrap, topic, committed=True) == {0: ONE}
        assert not hanging.done()
        hanging.result()
        assert time.monotonic() - began > 5
        received = reading.result()
    (end,) = fired(proxy, HANGS)
    assert end.api == "EndTxn"
    assert (end.latency_ms or 0) > 5000
    assert read_log(cluster.bootstrap, topic, committed=True) == everything
    assert received.errors == []
    assert {0: received.values} == everything
