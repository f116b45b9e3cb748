"""Requests of a transaction that are refused, or whose replies are lost, before it ends."""

from __future__ import annotations

from contextlib import closing

import pytest
from confluent_kafka import Consumer, TopicPartition

from barnabas.captures.kafka.exchange import Exchange
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.expectations import of_api
from tests.experiments.scenarios.kafka import (
    QUICK,
    fired,
    made_topic,
    numbers,
    read_log,
    spread,
    through,
)
from tests.experiments.scenarios.transactions import transactional
from tests.waiting import SOON

pytestmark = pytest.mark.needs_apache("4.3.1")

ONE, TWO = numbers(3), numbers(3, 3)
LATER = "CONCURRENT_TRANSACTIONS", "COORDINATOR_LOAD_IN_PROGRESS"
LOST = {
    "InitProducerId": "the producer does not hear its id",
    "AddPartitionsToTxn": "it does not hear that partitions are in the transaction",
    "AddOffsetsToTxn": "it does not hear that a group is in the transaction",
    "TxnOffsetCommit": "it does not hear that offsets are stored",
}


def check_lost(cluster: ApacheCluster, proxy: Harness, topic: str, apis: set[str]) -> None:
    """Replies of these APIs were lost; none said anything but to ask again later. All is there once."""
    assert {api for api, rule in LOST.items() if fired(proxy, rule)} == apis
    for api in apis:
        sent, replies = of_api(proxy, api), fired(proxy, LOST[api])
        assert len(replies) == (len(sent) + 1) // 2
        assert {one.latency_ms for one in replies} == {None}  # none came
        assert {one.error for one in sent} <= {"", None, *LATER}
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: ONE + TWO}
    assert read_log(cluster.bootstrap, topic) == {0: ONE + TWO}
    settings = {**QUICK, "bootstrap.servers": cluster.bootstrap, "group.id": topic}
    with closing(Consumer(settings)) as consumer:
        (found,) = consumer.committed([TopicPartition(topic, 0)], timeout=SOON)
    assert found.offset == 2


def test_librdkafka_sends_each_again(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "replies")
    group = Consumer({**QUICK, "bootstrap.servers": cluster.bootstrap, "group.id": topic})
    with through("lost-transaction-replies", cluster.bootstrap) as proxy:
        producer = transactional(proxy.bootstrap, topic)
        for offset, values in enumerate((ONE, TWO), start=1):
            producer.begin_transaction()
            for value in values:
                producer.produce(topic, value, partition=0)
            position = TopicPartition(topic, 0, offset)
            producer.send_offsets_to_transaction([position], group.consumer_group_metadata(), SOON)
            producer.commit_transaction(SOON)
    group.close()
    check_lost(cluster, proxy, topic, {*LOST})


def partitions(exchange: Exchange) -> set[int]:
    """Return the partitions that a request adds to its transaction, or sends records to."""
    request = exchange.request or {}
    if exchange.api == "AddPartitionsToTxn":
        return {index for topic in request["v3_and_below_topics"] for index in topic["partitions"]}
    topics = request.get("topic_data", ()) if exchange.api == "Produce" else ()
    return {each["index"] for topic in topics for each in topic["partition_data"]}


def test_librdkafka_asks_again_before_it_sends_records(cluster: ApacheCluster) -> None:
    topic, values = made_topic(cluster.bootstrap, "concurrent", 3), numbers(9)
    with through("concurrent-transactions", cluster.bootstrap) as proxy:
        producer = transactional(proxy.bootstrap, topic)
        for begin in range(0, len(values), 3):
            producer.begin_transaction()
            for number in range(3):
                producer.produce(topic, values[begin + number], partition=number)
            producer.commit_transaction(SOON)
    init = fired(proxy, "the last transaction is not complete")
    assert [one.error for one in init] == ["CONCURRENT_TRANSACTIONS"] * 2
    (refused,) = fired(proxy, "one partition of several waits for its marker")
    assert refused.error == "CONCURRENT_TRANSACTIONS"
    assert refused.response is not None
    (topic_result,) = refused.response["results_by_topic_v3_and_below"]
    partition = topic_result["results_by_partition"][0]["partition_index"]
    exchanges = sorted(proxy.exchanges, key=lambda exchange: exchange.ts)
    later = exchanges[exchanges.index(refused) :]
    apis = [exchange.api for exchange in later if partition in partitions(exchange)]
    assert apis[:3] == ["AddPartitionsToTxn", "AddPartitionsToTxn", "Produce"]
    assert read_log(cluster.bootstrap, topic, committed=True) == spread(values, 3)
