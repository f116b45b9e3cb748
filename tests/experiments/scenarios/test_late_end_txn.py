from __future__ import annotations

import pytest
from confluent_kafka import KafkaException

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
    until,
)
from tests.experiments.scenarios.transactions import transact, transactional

pytestmark = pytest.mark.needs_apache("4.3.1")

LATE = "a commit comes in the next transaction"
FIRST, SECOND, ABORTED, LAST = (numbers(3, begin) for begin in range(0, 12, 3))


def came_late(proxy: Harness) -> str:
    """It left behind the next transaction's first record, when it had been sent again; gives its error."""
    (rule,) = proxy.rules.rules
    assert (rule.fired, rule.released, rule.expired) == (1, 1, 0)
    (late,) = fired(proxy, LATE)
    ended = sorted((one for one in proxy.exchanges if one.api == "EndTxn"), key=lambda one: one.ts)
    again = ended[ended.index(late) + 1]
    assert (again.request, again.error) == (late.request, "")
    assert again.connection != late.connection
    return late.error or ""


def test_with_an_epoch_for_each_transaction_it_is_refused(
    cluster: ApacheCluster, java: JavaClient
) -> None:
    topic = made_topic(cluster.bootstrap, "late-end-java")
    with through("late-end-txn", cluster.bootstrap) as proxy:
        settings = {"bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
        told = java.transact(
            topic,
            [(FIRST, "commit"), (SECOND, "commit"), (ABORTED, "abort"), (LAST, "commit")],
            settings={**JAVA, **settings, "request.timeout.ms": "1000"},
        )
    assert told == [[], [], [], []]
    assert came_late(proxy) == "PRODUCER_FENCED"
    assert {one.version for one in proxy.exchanges if one.api == "EndTxn"} == {5}
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: FIRST + SECOND + LAST}
    assert read_log(cluster.bootstrap, topic) == {0: FIRST + SECOND + ABORTED + LAST}


def test_before_that_it_ends_the_transaction_under_way(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "late-end")
    impatient = {"socket.timeout.ms": 1000, "transaction.timeout.ms": 30_000}
    with through("late-end-txn", cluster.bootstrap) as proxy:
        producer = transactional(proxy.bootstrap, topic, **impatient)
        transact(producer, topic, FIRST)
        transact(producer, topic, SECOND)
        producer.begin_transaction()
        for value in ABORTED:
            producer.produce(topic, value, partition=0)
        producer.flush()
        torn = {0: FIRST + SECOND + ABORTED}
        until(
            lambda: read_log(cluster.bootstrap, topic, committed=True) == torn,
            "what was not committed is",
        )
        with pytest.raises(KafkaException, match="INVALID_TXN_STATE"):
            producer.abort_transaction()
    assert came_late(proxy) == ""
    assert max(one.version for one in proxy.exchanges if one.api == "EndTxn") < 5
    assert read_log(cluster.bootstrap, topic, committed=True) == torn
