from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError
from tests.experiments.scenarios.kafka import (
    JAVA,
    fired,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    through,
    until,
)
from tests.experiments.scenarios.transactions import transact, transactional

pytestmark = pytest.mark.needs_apache("4.3.1")

BEFORE, HANGING, OTHERS = numbers(3), numbers(3, 3), numbers(3, 6)
LATE = "the end of the transaction is late"


def test_readers_of_committed_records_wait_for_it(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "hanging")
    everything = {0: BEFORE + HANGING + OTHERS}
    with (
        through("hanging-transaction", cluster.bootstrap) as proxy,
        ThreadPoolExecutor() as pool,
    ):
        producer = transactional(proxy.bootstrap, topic)
        transact(producer, topic, BEFORE)
        began = time.monotonic()
        hanging = pool.submit(transact, producer, topic, HANGING)
        (rule,) = proxy.rules.rules
        until(lambda: rule.fired == 1, "the producer hangs before its commit")
        reading = pool.submit(
            receive, proxy.bootstrap, topic, 9, {"isolation.level": "read_committed"}
        )
        assert send(cluster.bootstrap, topic, OTHERS).failed == {}
        assert read_log(cluster.bootstrap, topic) == everything
        assert read_log(cluster.bootstrap, topic, committed=True) == {0: BEFORE}
        assert not hanging.done()
        hanging.result()
        assert time.monotonic() - began > 5
        received = reading.result()
    assert [exchange.api for exchange in fired(proxy, LATE)] == ["EndTxn"]
    assert read_log(cluster.bootstrap, topic, committed=True) == everything
    assert received.errors == []
    assert {0: received.values} == everything
    (end,) = fired(proxy, LATE)
    assert (end.latency_ms or 0) > 5000


def test_one_that_hangs_for_too_long_is_aborted(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "hanging-too-long")
    impatient = {"transactional.id": topic, "transaction.timeout.ms": "1000"}
    with through("hanging-transaction", cluster.bootstrap) as proxy:
        settings = {**JAVA, **impatient, "bootstrap.servers": proxy.bootstrap}
        java.produce(topic, BEFORE, settings=settings, outcome="commit")
        with pytest.raises(JavaError, match=r"InvalidTxnState|ProducerFenced"):
            java.produce(topic, HANGING, settings=settings, outcome="commit")
    (end,) = fired(proxy, LATE)
    assert end.error in {"INVALID_TXN_STATE", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"}
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: BEFORE}
    assert read_log(cluster.bootstrap, topic) == {0: BEFORE + HANGING}
