from __future__ import annotations

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    SOON,
    fired,
    made_topic,
    numbers,
    read_log,
    spread,
    through,
)
from tests.experiments.scenarios.transactions import transactional

pytestmark = pytest.mark.needs_apache("4.3.1")

INIT = "the last transaction is not complete"
PARTITION = "one partition of several waits for its marker"
PRODUCE = "a leader hears so from the coordinator"
PARTITIONS = 3
VALUES = numbers(9)


def concurrent(proxy: Harness, rule: str) -> int:
    """How often the rule said so."""
    told = fired(proxy, rule)
    assert {one.error for one in told} == {"CONCURRENT_TRANSACTIONS"}
    return len(told)


def partitions(exchange: Exchange) -> set[int]:
    """Return the partitions that a request adds to its transaction, or sends records to."""
    request = exchange.request or {}
    if exchange.api == "AddPartitionsToTxn":
        return {index for topic in request["v3_and_below_topics"] for index in topic["partitions"]}
    if exchange.api == "Produce":
        return {
            each["index"] for topic in request["topic_data"] for each in topic["partition_data"]
        }
    return set()


def test_librdkafka_asks_again_before_it_sends_records(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "concurrent", PARTITIONS)
    with through("concurrent-transactions", cluster.bootstrap) as proxy:
        producer = transactional(proxy.bootstrap, topic)
        for begin in range(0, len(VALUES), PARTITIONS):
            producer.begin_transaction()
            for number in range(PARTITIONS):
                producer.produce(topic, VALUES[begin + number], partition=number)
            producer.commit_transaction(SOON)
    assert concurrent(proxy, INIT) == 2
    assert concurrent(proxy, PARTITION) == 1
    (refused,) = fired(proxy, PARTITION)
    assert refused.response is not None
    (topic_result,) = refused.response["results_by_topic_v3_and_below"]
    partition = topic_result["results_by_partition"][0]["partition_index"]
    exchanges = sorted(proxy.exchanges, key=lambda exchange: exchange.ts)
    later = exchanges[exchanges.index(refused) :]
    apis = [exchange.api for exchange in later if partition in partitions(exchange)]
    assert apis[:3] == ["AddPartitionsToTxn", "AddPartitionsToTxn", "Produce"]
    assert read_log(cluster.bootstrap, topic, committed=True) == spread(VALUES, PARTITIONS)


def test_java_sends_the_same_records_again(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "concurrent-java")
    with through("concurrent-transactions", cluster.bootstrap) as proxy:
        settings = {"bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
        told = java.transact(
            topic,
            [(VALUES[begin : begin + 3], "commit") for begin in range(0, len(VALUES), 3)],
            settings={**JAVA, **settings},
        )
    assert told == [[], [], []]
    assert concurrent(proxy, INIT) == 2
    assert concurrent(proxy, PRODUCE) >= 2
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: VALUES}
