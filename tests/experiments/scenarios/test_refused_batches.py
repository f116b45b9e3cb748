"""One batch is refused while others are in flight, with and without idempotence, and in transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest
from confluent_kafka import KafkaException

from barnabas.captures.checks.facts import first_batch
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.java_client import ScenarioClient
from tests.experiments.scenarios.java_errors import ErrorClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    PLAIN,
    SINGLY,
    made_topic,
    numbers,
    read_log,
    send,
    spread,
    through,
)
from tests.experiments.scenarios.transactions import ended, transact, transactional
from tests.waiting import SOON

pytestmark = pytest.mark.needs_apache("4.3.1")

PARTITIONS = 3

REFUSED = expect.rules(
    {
        "a record of partition 0 is invalid": "Produce INVALID_RECORD",
        "a batch of partition 1 is too large": "Produce MESSAGE_TOO_LARGE",
        "a batch of partition 2 is corrupt": "Produce CORRUPT_MESSAGE",
    }
)

FINAL = {b"6": "INVALID_RECORD", b"7": "MSG_SIZE_TOO_LARGE"}
"""The values that librdkafka reports, one record a request: the third of partitions 0 and 1."""

OUT_OF_ORDER = 45


class SentBatch(NamedTuple):
    """A batch of a Produce request, and the error code in the response."""

    epoch: int
    sequence: int
    records: int
    error: int


def sent_batches(proxy: Harness, partition: int) -> list[SentBatch]:
    """Return the batches that a producer sent to a partition, in order."""
    results = []
    for one in expect.of_api(proxy, "Produce"):
        assert one.request is not None
        assert one.response is not None
        codes = {
            entry["index"]: entry["error_code"]
            for topic in one.response["responses"]
            for entry in topic["partition_responses"]
        }
        for topic in one.request["topic_data"]:
            for entry in topic["partition_data"]:
                batch = first_batch(entry["records"])
                assert batch is not None
                count = (batch.last_offset or 0) - (batch.base_offset or 0) + 1
                sent = SentBatch(
                    batch.producer_epoch, batch.base_sequence, count, codes[entry["index"]]
                )
                results += [sent] if entry["index"] == partition else []
    return results


def check_sequences(batches: Sequence[SentBatch], epochs: int = 2) -> None:
    """Check that the stored batches of each epoch have all sequence numbers from 0 on, in order.

    epochs: number of epochs at least.
    """
    following: dict[int, int] = {}
    for batch in batches:
        if batch.error == 0:
            assert batch.sequence == following.get(batch.epoch, 0)
            following[batch.epoch] = batch.sequence + batch.records
    assert len(following) >= epochs


def check_stored(
    proxy: Harness, bootstrap: str, topic: str, values: Sequence[bytes], failed: Sequence[bytes]
) -> None:
    """Check that the log has the values that did not fail in order, and that none was sent past a gap."""
    log = read_log(bootstrap, topic)
    expected = spread(values, len(log))
    assert log == {
        partition: [value for value in each if value not in failed]
        for partition, each in expected.items()
    }
    batches = {partition: sent_batches(proxy, partition) for partition in log}
    assert OUT_OF_ORDER in {batch.error for each in batches.values() for batch in each}
    for each in batches.values():
        check_sequences(each)


def test_librdkafka_sends_the_batches_after_a_refused_one_in_a_new_epoch(
    cluster: ApacheCluster,
) -> None:
    topic, values = made_topic(cluster.bootstrap, "one-batch-refused", PARTITIONS), numbers(90)
    with through("one-batch-refused", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values, partitions=PARTITIONS)
    REFUSED(proxy)
    assert sent.failed == FINAL
    check_stored(proxy, cluster.bootstrap, topic, values, [*sent.failed])


def test_java_sends_the_batches_after_a_refused_one_in_a_new_epoch(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic, values = made_topic(cluster.bootstrap, "one-batch-refused-java", PARTITIONS), numbers(90)
    with through("one-batch-refused", cluster.bootstrap) as proxy:
        settings = {**JAVA, **SINGLY, "bootstrap.servers": proxy.bootstrap}
        results = java_errors.produce_each(
            topic, values, settings, together=True, partitions=PARTITIONS
        )
    REFUSED(proxy)
    failed = {
        value: problem
        for value, problem in zip(values, results.problems, strict=True)
        if problem is not None
    }
    # a batch of several records is split if it is too large; of a corrupt one, all are sent again
    assert "InvalidRecordException" in failed.values()
    assert {*failed.values()} <= {
        "InvalidRecordException",
        "KafkaException",  # the other records of an invalid one's batch
        "RecordTooLargeException",
    }
    check_stored(proxy, cluster.bootstrap, topic, values, [*failed])


def test_without_idempotence_librdkafka_stores_a_corrupt_batch_after_later_ones(
    cluster: ApacheCluster,
) -> None:
    topic, values = (
        made_topic(cluster.bootstrap, "one-batch-refused-plain", PARTITIONS),
        numbers(90),
    )
    with through("one-batch-refused", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values, PLAIN, partitions=PARTITIONS)
    REFUSED(proxy)
    assert sent.failed == FINAL
    log, expected = read_log(cluster.bootstrap, topic), spread(values, PARTITIONS)
    for partition in range(2):
        assert log[partition] == [one for one in expected[partition] if one not in FINAL]
    corrupt = values[8]
    assert sorted(log[2]) == sorted(expected[2])
    assert log[2].index(corrupt) > log[2].index(values[11])


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("one-batch-refused", ["InvalidRecordException"]),
        ("right-to-write-withdrawn", ["TopicAuthorizationException"]),
        ("one-partition-times-out", []),
    ],
)
def test_java_aborts_the_transaction_of_a_refused_batch_and_commits_the_others(
    scenario: str, expected: list[str], cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = made_topic(cluster.bootstrap, f"{scenario}-java-ends")
    values = [numbers(30, 30 * number) for number in range(3)]
    with through(scenario, cluster.bootstrap) as proxy:
        settings = {**JAVA, **SINGLY, "bootstrap.servers": proxy.bootstrap}
        told = java.transact(
            topic,
            [(each, "commit") for each in values],
            {**settings, "transactional.id": topic},
        )
    assert [error for errors in told for error in errors] == expected
    assert ended(proxy) == [not errors for errors in told]
    check_sequences(sent_batches(proxy, 0))
    committed = [
        value for each, errors in zip(values, told, strict=True) if not errors for value in each
    ]
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: committed}


def test_librdkafka_aborts_up_to_two_transactions_and_commits_the_next_one(
    cluster: ApacheCluster,
) -> None:
    topic = made_topic(cluster.bootstrap, "one-batch-refused-ends")
    # an abort after an unexpected sequence number takes as long as a record's delivery may
    quick = {"message.timeout.ms": 3000, "linger.ms": 0, "batch.num.messages": 1}
    errors, committed = [], []
    with through("one-batch-refused", cluster.bootstrap) as proxy:
        producer = transactional(proxy.bootstrap, topic, **quick)
        for number in range(3):
            values = numbers(10, 10 * number)
            try:
                transact(producer, topic, values)
                committed += values
            except KafkaException as problem:
                errors.append(problem.args[0].name())
                producer.abort_transaction(SOON)
    assert errors in (["INVALID_RECORD"], ["INVALID_RECORD", expect.OUT_OF_ORDER])
    assert ended(proxy) == [number >= len(errors) for number in range(3)]
    check_sequences(sent_batches(proxy, 0))
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: committed}


WITHDRAWN = expect.rules({"the topic may not be written": "Produce TOPIC_AUTHORIZATION_FAILED"})


def test_librdkafka_without_a_right_fails_waiting_records_and_stores_none_after_them(
    cluster: ApacheCluster,
) -> None:
    topic, values = made_topic(cluster.bootstrap, "right-to-write-withdrawn"), numbers(60)
    with through("right-to-write-withdrawn", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values[:50])
        later = send(proxy.bootstrap, topic, values[50:])
    WITHDRAWN(proxy)
    assert {*sent.failed.values()} <= {"TOPIC_AUTHORIZATION_FAILED", "_DESTROY"}
    assert len(sent.failed) >= 3
    assert later.failed == {}
    stored = [value for value in values if value not in sent.failed]
    assert read_log(cluster.bootstrap, topic) == {0: stored}


def test_java_stores_what_it_sends_after_its_right_is_back(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic, values = made_topic(cluster.bootstrap, "right-to-write-withdrawn-java"), numbers(90)
    with through("right-to-write-withdrawn", cluster.bootstrap) as proxy:
        settings = {**JAVA, **SINGLY, "bootstrap.servers": proxy.bootstrap}
        results = java_errors.produce_each(topic, values, settings, together=True)
    WITHDRAWN(proxy)
    assert {*results.problems} == {None, "TopicAuthorizationException"}
    pairs = zip(values, results.problems, strict=True)
    failed = [value for value, problem in pairs if problem is not None]
    check_stored(proxy, cluster.bootstrap, topic, values, failed)


@pytest.mark.parametrize("retries", [{}, {"retries": "1"}], ids=["repeated", "given up"])
def test_java_stores_no_batch_before_one_that_times_out_and_is_repeated(
    retries: Mapping[str, str], cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = made_topic(cluster.bootstrap, f"one-partition-times-out-java-{len(retries)}", 2)
    values = numbers(60)
    with through("one-partition-times-out", cluster.bootstrap) as proxy:
        settings = {**JAVA, **SINGLY, **retries, "bootstrap.servers": proxy.bootstrap}
        results = java_errors.produce_each(topic, values, settings, together=True, partitions=2)
    expect.times_out_for_one_partition(proxy)
    failed = {
        value: problem
        for value, problem in zip(values, results.problems, strict=True)
        if problem is not None
    }
    assert bool(failed) == bool(retries)
    # with one retry, batches after those that are given up fail, too
    assert {*failed.values()} <= {"TimeoutException", "OutOfOrderSequenceException"}
    log = read_log(cluster.bootstrap, topic)
    assert log == {
        0: [value for value in values[::2] if value not in failed],
        1: values[1::2],
    }
    check_sequences(sent_batches(proxy, 0), 1 + bool(retries))
