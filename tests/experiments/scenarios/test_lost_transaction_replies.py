from __future__ import annotations

import pytest
from confluent_kafka import Consumer, TopicPartition

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    QUICK,
    SOON,
    fired,
    made_topic,
    numbers,
    read_log,
    through,
)
from tests.experiments.scenarios.transactions import transactional

pytestmark = pytest.mark.needs_apache("4.3.1")

ONE, TWO = numbers(3), numbers(3, 3)
LATER = "CONCURRENT_TRANSACTIONS", "COORDINATOR_LOAD_IN_PROGRESS"
LOST = {
    "InitProducerId": "the producer does not hear its id",
    "AddPartitionsToTxn": "it does not hear that partitions are in the transaction",
    "AddOffsetsToTxn": "it does not hear that a group is in the transaction",
    "TxnOffsetCommit": "it does not hear that offsets are stored",
}


def lost(proxy: Harness) -> set[str]:
    """The APIs of which replies were lost; none said anything but to ask again later."""
    found = {api for api, rule in LOST.items() if fired(proxy, rule)}
    for api in found:
        sent = [one for one in proxy.exchanges if one.api == api]
        replies = fired(proxy, LOST[api])
        assert len(replies) == (len(sent) + 1) // 2
        assert {one.latency_ms for one in replies} == {None}  # none came
        assert {one.error for one in sent} <= {"", None, *LATER}
    return found


def committed(bootstrap: str, group: str) -> int:
    """The group's offset in the partition that the topic of its name has."""
    consumer = Consumer({**QUICK, "bootstrap.servers": bootstrap, "group.id": group})
    try:
        (found,) = consumer.committed([TopicPartition(group, 0)], timeout=SOON)
        return int(found.offset)
    finally:
        consumer.close()


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
    assert lost(proxy) == {*LOST}
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: ONE + TWO}
    assert read_log(cluster.bootstrap, topic) == {0: ONE + TWO}
    assert committed(cluster.bootstrap, topic) == 2


def test_java_sends_each_again(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "replies-java")
    with through("lost-transaction-replies", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
        for offset, values in enumerate((ONE, TWO), start=1):
            java.produce(
                topic,
                values,
                settings=settings,
                outcome="commit",
                group=topic,
                offsets={0: offset},
            )
    assert lost(proxy) == {"InitProducerId", "TxnOffsetCommit"}
    assert {one.version for one in proxy.exchanges if one.api == "TxnOffsetCommit"} == {5}
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: ONE + TWO}
    assert read_log(cluster.bootstrap, topic) == {0: ONE + TWO}
    assert committed(cluster.bootstrap, topic) == 2
