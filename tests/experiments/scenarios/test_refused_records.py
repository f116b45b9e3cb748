"""Requests that a broker refuses, or carries out although it reports an error."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.java_errors import ErrorClient
from tests.experiments.scenarios.kafka import (
    FEW,
    JAVA,
    JAVA_FEW,
    PLAIN,
    fired,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

LARGE = [b"%02d" % number + b"x" * 500 for number in range(60)]
"""Records of 30 kB in all."""

TOO_LARGE = expect.rules({"the batch is too large": "Produce MESSAGE_TOO_LARGE"})

REFUSED = {
    "INVALID_RECORD": "a record is invalid",
    "RECORD_LIST_TOO_LARGE": "the batch is larger than a segment",
    "UNSUPPORTED_FOR_MESSAGE_FORMAT": "the message format is too old",
}
REFUSALS = expect.rules({rule: f"Produce {error}" for error, rule in REFUSED.items()})
EXCEPTIONS = (
    "InvalidRecordException",
    "RecordBatchTooLargeException",
    "UnsupportedForMessageFormatException",
)


@pytest.mark.parametrize("idempotence", ["true", "false"])
def test_java_splits_batches_that_are_too_large(
    idempotence: str, cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = made_topic(cluster.bootstrap, f"batch-too-large-java-{idempotence}")
    with through("batch-too-large", cluster.bootstrap) as proxy:
        own = {"linger.ms": "200", "enable.idempotence": idempotence}
        settings = {**JAVA, **own, "bootstrap.servers": proxy.bootstrap}
        produced = java_errors.produce_each(topic, LARGE, settings, together=True)
    TOO_LARGE(proxy)
    assert {*produced.problems} == {None}
    assert read_log(cluster.bootstrap, topic) == {0: LARGE}


def test_librdkafka_reports_all_records_of_a_batch_that_is_too_large(
    cluster: ApacheCluster,
) -> None:
    topic = made_topic(cluster.bootstrap, "batch-too-large")
    with through("batch-too-large", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, LARGE, {"linger.ms": 200, "batch.num.messages": 1000})
    TOO_LARGE(proxy)
    assert {*sent.failed.values()} == {"MSG_SIZE_TOO_LARGE"}
    stored = [value for value in LARGE if value not in sent.failed]
    assert sent.acknowledged == stored
    assert read_log(cluster.bootstrap, topic) == {0: stored}


def test_librdkafka_reports_refused_records_and_continues(cluster: ApacheCluster) -> None:
    topic, values = made_topic(cluster.bootstrap, "records-refused"), numbers(40)
    with through("records-refused", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values)
    REFUSALS(proxy)
    assert {*sent.failed.values()} == {*REFUSED}
    assert len(sent.failed) == sum(len(fired(proxy, rule)) for rule in REFUSED.values())
    stored = [value for value in values if value not in sent.failed]
    assert sent.acknowledged == stored
    assert read_log(cluster.bootstrap, topic) == {0: stored}


def test_java_reports_refused_records_and_continues(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic, values = made_topic(cluster.bootstrap, "records-refused-java"), numbers(40)
    with through("records-refused", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        produced = java_errors.produce_each(topic, values, settings)
    REFUSALS(proxy)
    assert {*produced.problems} == {None, *EXCEPTIONS}
    results = zip(values, produced.problems, strict=True)
    stored = [value for value, problem in results if problem is None]
    assert read_log(cluster.bootstrap, topic) == {0: stored}


MANY = numbers(400)
"""Values for more than 16 batches with several records each."""


def test_java_reports_others_of_an_invalid_records_batch_in_general(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = made_topic(cluster.bootstrap, "records-refused-java-batches")
    with through("records-refused", cluster.bootstrap) as proxy:
        own = {"linger.ms": "500", "batch.size": "200"}
        settings = {**JAVA, **own, "bootstrap.servers": proxy.bootstrap}
        problems = java_errors.produce_each(topic, MANY, settings, together=True).problems
    REFUSALS(proxy)
    check_batches(problems, "InvalidRecordException", "KafkaException")
    assert {*problems} == {None, "KafkaException", *EXCEPTIONS}
    stored = [value for value, problem in zip(MANY, problems, strict=True) if problem is None]
    assert read_log(cluster.bootstrap, topic) == {0: stored}


def test_librdkafka_reports_the_same_error_for_all_records_of_a_batch(
    cluster: ApacheCluster,
) -> None:
    topic = made_topic(cluster.bootstrap, "records-refused-batches")
    with through("records-refused", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, MANY, {"linger.ms": 200, "batch.num.messages": 10})
    REFUSALS(proxy)
    problems = [sent.failed.get(value) for value in MANY]
    assert {*problems} == {None, *REFUSED}
    for error, rule in REFUSED.items():
        assert problems.count(error) > len(fired(proxy, rule))
    assert read_log(cluster.bootstrap, topic) == {0: sent.acknowledged}


def check_batches(problems: Sequence[str | None], invalid: str, other: str) -> None:
    """Check that the first record of a refused batch is the invalid one, and the next ones are others."""
    for place, problem in enumerate(problems):
        if problem == invalid:
            assert problems[place + 1] == other
        if problem == other:
            assert problems[place - 1] in (invalid, other)


def test_without_idempotence_stored_records_are_stored_again(cluster: ApacheCluster) -> None:
    topic, values = made_topic(cluster.bootstrap, "not-enough-replicas-plain"), numbers(40)
    with through("not-enough-replicas", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values, PLAIN)
    expect.lacks_replicas(proxy)
    assert sent.failed == {}
    (stored,) = read_log(cluster.bootstrap, topic).values()
    assert {*stored} == {*values}
    again = fired(proxy, "stored, but on too few replicas")
    assert len(stored) == len(values) + len(again)


def test_without_idempotence_a_batch_that_comes_twice_is_stored_twice(
    cluster: ApacheCluster,
) -> None:
    topic, values = made_topic(cluster.bootstrap, "batch-stored-twice-plain"), numbers(30)
    with through("batch-stored-twice", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values, PLAIN)
    twice = fired(proxy, "a batch arrives twice")
    assert sent.failed == {}
    assert twice
    (stored,) = read_log(cluster.bootstrap, topic).values()
    assert {*stored} == {*values}
    assert len(stored) == len(values) + len(twice)


SERVER_ERRORS = expect.rules(
    {
        "produced, and an unexpected error": "Produce UNKNOWN_SERVER_ERROR",
        "fetched, and an unexpected error": "Fetch UNKNOWN_SERVER_ERROR",
    }
)


def test_librdkafka_reports_an_unexpected_error_and_continues(cluster: ApacheCluster) -> None:
    topic, values = made_topic(cluster.bootstrap, "server-error"), numbers(40)
    with through("server-error", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values)
        received = receive(proxy.bootstrap, topic, len(sent.acknowledged), FEW)
    SERVER_ERRORS(proxy)
    assert {*sent.failed.values()} == {*received.errors} == {"UNKNOWN"}
    assert len(sent.failed) == len(fired(proxy, "produced, and an unexpected error"))
    assert len(received.errors) == len(fired(proxy, "fetched, and an unexpected error"))
    stored = [value for value in values if value not in sent.failed]
    assert received.values == sent.acknowledged == stored
    assert read_log(cluster.bootstrap, topic) == {0: stored}


def test_java_reports_an_unexpected_error_of_a_record_and_continues(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic, values = made_topic(cluster.bootstrap, "server-error-java"), numbers(40)
    with through("server-error", cluster.bootstrap) as proxy:
        settings = {**JAVA, **JAVA_FEW, "bootstrap.servers": proxy.bootstrap}
        problems = java_errors.produce_each(topic, values, settings).problems
        read = java_errors.consume_on(topic, values[-1], settings)
    SERVER_ERRORS(proxy)
    assert {*problems} == {None, "UnknownServerException"}
    stored = [value for value, problem in zip(values, problems, strict=True) if problem is None]
    assert (read.problems, read.values) == ([], stored)
    assert read_log(cluster.bootstrap, topic) == {0: stored}
