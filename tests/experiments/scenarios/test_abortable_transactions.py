"""Transactions that the application has to abort, and producers that are fenced when they commit offsets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from barnabas.captures.kafka.exchange import Exchange
from barnabas.experiments.clients import trial
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.kafka import (
    QUICK,
    fired,
    made_topic,
    numbers,
    read_log,
    through,
)
from tests.experiments.scenarios.transactions import transact, transact_offset, transactional
from tests.experiments.scenarios.trials import captured, copy_records
from tests.waiting import SOON

pytestmark = pytest.mark.needs_apache("4.3.1")

ABORTABLE = "TRANSACTION_ABORTABLE"
EPOCH = "INVALID_PRODUCER_EPOCH"


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give brokers more time to make the topics of a trial."""
    monkeypatch.setattr(trial, "SOON", 60.0)


def group_metadata(bootstrap: str, group: str) -> Any:
    """Return the metadata of a group that the consumer has not joined."""
    consumer = Consumer({**QUICK, "bootstrap.servers": bootstrap, "group.id": group})
    try:
        return consumer.consumer_group_metadata()
    finally:
        consumer.close()


def failing(producer: Producer, topic: str, value: bytes, error: str) -> KafkaError:
    """Return the error of a transaction, which has that name."""
    with pytest.raises(KafkaException, match=error) as raised:
        transact(producer, topic, [value])
    problem = raised.value.args[0]
    assert isinstance(problem, KafkaError)
    return problem


def transaction_steps(folder: Path) -> list[Exchange]:
    """Return the requests of a trial's producer that commit offsets or end transactions."""
    return captured(folder, "TxnOffsetCommit", "EndTxn")


@pytest.mark.usefixtures("soon")
def test_java_aborts_what_is_abortable_and_copies_each_record_once(
    cluster: ApacheCluster, tmp_path: Path
) -> None:
    ended = copy_records("java", "transaction-abortable", cluster.bootstrap, tmp_path)
    assert (ended.raised, ended.findings, ended.broken) == ("", (), ())
    exchanges = captured(tmp_path, "InitProducerId", "Produce", "TxnOffsetCommit", "EndTxn")
    refused = [one for one in exchanges if one.rules]
    assert [(one.api, one.error) for one in refused] == [
        ("Produce", ABORTABLE),
        ("TxnOffsetCommit", ABORTABLE),
    ]
    ends = [one for one in exchanges if one.api == "EndTxn"]
    for one in refused:
        end = next(end for end in ends if end.ts > one.ts)
        assert end.request is not None
        assert (end.request["committed"], end.error) == (False, "")
    assert sum(end.request["committed"] is False for end in ends if end.request) == 2
    assert [one.api for one in exchanges].count("InitProducerId") == 1


@pytest.mark.usefixtures("soon")
def test_kafka_streams_ends_by_its_default_handler(cluster: ApacheCluster, tmp_path: Path) -> None:
    ended = copy_records("kafka-streams", "transaction-abortable", cluster.bootstrap, tmp_path)
    assert ended.raised.startswith("org.apache.kafka.streams.errors.StreamsException")
    assert "TransactionAbortableException" in ended.raised
    assert (ended.findings, ended.broken) == ((), ())
    *_, last = transaction_steps(tmp_path)
    assert last.request is not None
    assert (last.api, last.request["committed"]) == ("EndTxn", False)


def test_librdkafka_aborts_in_older_versions_until_an_offset_is_refused(
    cluster: ApacheCluster,
) -> None:
    topic, values = made_topic(cluster.bootstrap, "abortable"), numbers(7)
    with through("transaction-abortable", cluster.bootstrap) as proxy:
        group = group_metadata(proxy.bootstrap, topic)
        producer = transactional(proxy.bootstrap, topic)
        transact(producer, topic, values[:1])
        for value, error in ((values[1], "INVALID_TXN_STATE"), (values[2], "OUT_OF_ORDER")):
            problem = failing(producer, topic, value, error)
            assert problem.txn_requires_abort()
            producer.abort_transaction(SOON)
        transact(producer, topic, values[3:4])
        transact_offset(producer, topic, values[4], group)
        with pytest.raises(KafkaException, match="INVALID_TXN_STATE") as raised:
            transact_offset(producer, topic, values[5], group)
        assert raised.value.args[0].fatal()
        transact(transactional(proxy.bootstrap, topic), topic, values[6:])
    refused = [one for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert [(one.api, one.error) for one in refused] == [
        ("Produce", "INVALID_TXN_STATE"),
        ("TxnOffsetCommit", "INVALID_TXN_STATE"),
    ]
    committed = [values[0], values[3], values[4], values[6]]
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: committed}


@pytest.mark.usefixtures("soon")
def test_java_is_fenced_when_it_commits_offsets(cluster: ApacheCluster, tmp_path: Path) -> None:
    ended = copy_records("java", "transactional-offsets-fenced", cluster.bootstrap, tmp_path)
    assert ended.raised.startswith("org.apache.kafka.common.errors.ProducerFencedException")
    assert (ended.findings, ended.broken) == ((), ())
    steps = transaction_steps(tmp_path)
    assert [(one.api, one.error) for one in steps] == [("TxnOffsetCommit", EPOCH)]


@pytest.mark.usefixtures("soon")
def test_kafka_streams_replaces_a_fenced_producer(cluster: ApacheCluster, tmp_path: Path) -> None:
    ended = copy_records(
        "kafka-streams", "transactional-offsets-fenced", cluster.bootstrap, tmp_path
    )
    assert (ended.raised, ended.findings, ended.broken) == ("", (), ())
    exchanges = captured(tmp_path, "InitProducerId", "TxnOffsetCommit", "EndTxn")
    [refused] = [one for one in exchanges if one.rules]
    assert (refused.api, refused.error) == ("TxnOffsetCommit", EPOCH)
    after = exchanges[exchanges.index(refused) + 1]
    assert after.api == "InitProducerId"


def test_librdkafka_is_fenced_when_it_commits_offsets(cluster: ApacheCluster) -> None:
    topic, values = made_topic(cluster.bootstrap, "offsets-fenced"), numbers(3)
    with through("transactional-offsets-fenced", cluster.bootstrap) as proxy:
        group = group_metadata(proxy.bootstrap, topic)
        for value in values[:2]:
            producer = transactional(proxy.bootstrap, topic)
            with pytest.raises(KafkaException, match="_FENCED") as raised:
                transact_offset(producer, topic, value, group)
            assert raised.value.args[0].fatal()
        transact_offset(transactional(proxy.bootstrap, topic), topic, values[2], group)
    refused = [one for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert [(one.api, one.error) for one in refused] == [
        ("AddOffsetsToTxn", EPOCH),
        ("TxnOffsetCommit", EPOCH),
    ]
    ends = [one for one in proxy.exchanges if one.api == "EndTxn"]
    assert [one.request["committed"] for one in ends if one.request] == [True]
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: values[2:]}
