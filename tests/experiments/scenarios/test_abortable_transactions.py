"""Transactions that the application has to abort, and producers that are fenced when they commit offsets."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from barnabas.captures.kafka.exchange import Exchange
from barnabas.experiments.clients import preparation
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.expectations import of_api
from tests.experiments.scenarios.java_client import ScenarioClient
from tests.experiments.scenarios.kafka import (
    JAVA,
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
MAPPING = "INVALID_PRODUCER_ID_MAPPING"


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give brokers more time to make the topics of a trial."""
    monkeypatch.setattr(preparation, "SOON", 60.0)


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
    # the coordinator may have been loading at first
    assert [one.api for one in exchanges if not one.error].count("InitProducerId") == 1


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


def test_librdkafka_is_fenced_by_the_error_of_older_versions(cluster: ApacheCluster) -> None:
    topic, values = made_topic(cluster.bootstrap, "old-epoch"), numbers(3)
    with through("producer-epoch-refused", cluster.bootstrap) as proxy:
        for value in values[:2]:
            assert failing(transactional(proxy.bootstrap, topic), topic, value, "_FENCED").fatal()
        transact(transactional(proxy.bootstrap, topic), topic, values[2:])
    refused = [one for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert [(one.api, one.error) for one in refused] == [
        ("AddPartitionsToTxn", EPOCH),
        ("EndTxn", EPOCH),
    ]
    ends = [one for one in proxy.exchanges if one.api == "EndTxn"]
    assert [one.request["committed"] for one in ends if one.request] == [True, True]
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: values[2:]}


def test_librdkafka_aborts_and_goes_on_when_its_id_has_expired(cluster: ApacheCluster) -> None:
    topic, values = made_topic(cluster.bootstrap, "expired"), numbers(3)
    with through("transactional-id-expired", cluster.bootstrap) as proxy:
        producer = transactional(proxy.bootstrap, topic)
        transact(producer, topic, values[:1])
        assert failing(producer, topic, values[1], MAPPING).txn_requires_abort()
        producer.abort_transaction(SOON)
        transact(producer, topic, values[2:])
    refused = [one for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert [(one.api, one.error) for one in refused] == [
        ("AddPartitionsToTxn", MAPPING),
        ("EndTxn", MAPPING),
    ]
    begun = [one for one in of_api(proxy, "InitProducerId") if not one.error]
    assert len(begun) == 2
    assert begun[1].ts > refused[1].ts
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: [values[0], values[2]]}


def test_java_needs_a_new_producer_when_its_id_has_expired(
    cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic, values = made_topic(cluster.bootstrap, "expired-java"), numbers(3)
    with through("transactional-id-expired", cluster.bootstrap) as proxy:
        own = {"bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
        transactions: list[tuple[list[bytes], Literal["commit"]]] = [
            ([value], "commit") for value in values
        ]
        fatal = ["InvalidPidMappingException"] * 2
        assert java.transact(topic, transactions[:2], {**JAVA, **own}) == [[], fatal]
        assert java.transact(topic, transactions[2:], {**JAVA, **own}) == [[]]
    [refused] = fired(proxy, "the leader adds no partition for the producer")
    assert (refused.api, refused.error) == ("Produce", MAPPING)
    assert len(of_api(proxy, "EndTxn")) == 2
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: [values[0], values[2]]}


@pytest.mark.usefixtures("soon")
def test_kafka_streams_replaces_a_producer_whose_id_has_expired(
    cluster: ApacheCluster, tmp_path: Path
) -> None:
    ended = copy_records("kafka-streams", "transactional-id-expired", cluster.bootstrap, tmp_path)
    assert (ended.raised, ended.findings, ended.broken) == ("", (), ())
    exchanges = captured(tmp_path, "InitProducerId", "Produce", "EndTxn")
    [refused] = [one for one in exchanges if one.rules]
    assert (refused.api, refused.error) == ("Produce", MAPPING)
    after = [one.api for one in exchanges if one.ts > refused.ts and not one.error]
    assert after.index("InitProducerId") < after.index("EndTxn")
