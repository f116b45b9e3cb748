"""Clients whose credentials are refused at first."""

from __future__ import annotations

from typing import Final

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.bench import with_sasl
from tests.experiments.scenarios.java_errors import ErrorClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    through,
)
from tests.experiments.scenarios.test_table import ALICE

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(20)
JAVA_ALICE: Final = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="alice" password="secret";',
}
PROBLEMS: Final = ["UnsupportedSaslMechanismException", "SaslAuthenticationException"]

REFUSED = expect.rules(
    {
        "the mechanism is not enabled": "SaslHandshake UNSUPPORTED_SASL_MECHANISM",
        "the credentials are not known": "SaslAuthenticate SASL_AUTHENTICATION_FAILED",
    }
)


def test_librdkafka_connects_again_and_no_call_fails(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "authentication-refused")
    reported: list[str] = []
    own = {**ALICE, "error_cb": lambda error: reported.append(error.name())}
    with through("authentication-refused", with_sasl(cluster)) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES, own)
    REFUSED(proxy)
    assert reported.count("_AUTHENTICATION") >= 2
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}
    reported.clear()
    with through("authentication-refused", with_sasl(cluster)) as proxy:
        received = receive(proxy.bootstrap, topic, len(VALUES), own)
    REFUSED(proxy)
    assert reported.count("_AUTHENTICATION") >= 2
    assert (received.errors, received.values) == ([], VALUES)


def test_a_java_consumer_can_be_polled_again(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = made_topic(cluster.bootstrap, "authentication-refused-java-reader")
    send(cluster.bootstrap, topic, VALUES)
    with through("authentication-refused", with_sasl(cluster)) as proxy:
        settings = {**JAVA, **JAVA_ALICE, "bootstrap.servers": proxy.bootstrap}
        read = java_errors.consume_on(topic, VALUES[-1], settings)
    REFUSED(proxy)
    assert list(dict.fromkeys(read.problems)) == PROBLEMS
    assert read.values == VALUES


def test_a_java_producer_is_made_anew(cluster: ApacheCluster, java_errors: ErrorClient) -> None:
    topic = made_topic(cluster.bootstrap, "authentication-refused-java-writer")
    with through("authentication-refused", with_sasl(cluster)) as proxy:
        settings = {**JAVA, **JAVA_ALICE, "bootstrap.servers": proxy.bootstrap}
        problems = [
            problem
            for value in VALUES[:3]
            for problem in java_errors.produce_each(topic, [value], settings).problems
        ]
    REFUSED(proxy)
    assert problems == [*PROBLEMS, None]
    assert read_log(cluster.bootstrap, topic) == {0: VALUES[2:3]}


def test_a_java_producer_with_idempotence_sends_nothing_after_that(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = made_topic(cluster.bootstrap, "authentication-refused-java-idempotence")
    soon = {"delivery.timeout.ms": "2000", "request.timeout.ms": "1000", "linger.ms": "0"}
    with through("authentication-refused", with_sasl(cluster)) as proxy:
        settings = {**JAVA, **JAVA_ALICE, **soon, "bootstrap.servers": proxy.bootstrap}
        problems = java_errors.produce_each(topic, VALUES[:3], settings).problems
    REFUSED(proxy)
    assert problems == [*PROBLEMS, "TimeoutException"]
    assert not expect.of_api(proxy, "InitProducerId", "Produce")
    assert read_log(cluster.bootstrap, topic) == {0: []}
