from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    fired,
    made_topic,
    numbers,
    read_log,
    through,
)
from tests.experiments.scenarios.transactions import transact, transactional

pytestmark = pytest.mark.needs_apache("4.3.1")

ONE, ABORTED, TWO = numbers(3), numbers(3, 3), numbers(3, 6)


def lost(proxy: Harness) -> None:
    """Every second one, those that were sent again among them."""
    ended = [exchange for exchange in proxy.exchanges if exchange.api == "EndTxn"]
    replies = fired(proxy, "the reply to EndTxn is lost")
    assert replies == ended[::2]
    assert len(replies) >= 3
    assert {exchange.error for exchange in ended} <= {"", "CONCURRENT_TRANSACTIONS"}


def test_librdkafka_ends_each_transaction_once(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "lost-reply")
    with through("lost-end-txn-reply", cluster.bootstrap) as proxy:
        producer = transactional(proxy.bootstrap, topic)
        transact(producer, topic, ONE)
        transact(producer, topic, ABORTED, commit=False)
        transact(producer, topic, TWO)
    lost(proxy)
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: ONE + TWO}
    assert read_log(cluster.bootstrap, topic) == {0: ONE + ABORTED + TWO}


def test_java_ends_each_transaction_once(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "lost-reply-java")
    with through("lost-end-txn-reply", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
        java.produce(topic, ONE, settings=settings, outcome="commit")
        java.produce(topic, ABORTED, settings=settings, outcome="abort")
        java.produce(topic, TWO, settings=settings, outcome="commit")
    lost(proxy)
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: ONE + TWO}
    assert read_log(cluster.bootstrap, topic) == {0: ONE + ABORTED + TWO}
