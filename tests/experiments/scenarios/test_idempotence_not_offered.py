from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError
from tests.experiments.scenarios.kafka import (
    JAVA,
    PLAIN,
    fired,
    made_topic,
    numbers,
    read_log,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(20)


def was_told(proxy: Harness) -> None:
    told = fired(proxy, "InitProducerId is not offered")
    assert {one.api for one in told} == {"ApiVersions"}


def nothing_was_sent(proxy: Harness) -> None:
    was_told(proxy)
    assert not [one for one in proxy.exchanges if one.api in ("Produce", "InitProducerId")]


def test_librdkafka_says_so(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "no-idempotence")
    with (
        through("idempotence-not-offered", cluster.bootstrap) as proxy,
        pytest.raises(KafkaException) as raised,
    ):
        send(proxy.bootstrap, topic, VALUES, seconds=10)
    nothing_was_sent(proxy)
    error = raised.value.args[0]
    assert error.fatal()
    assert error.code() == KafkaError._UNSUPPORTED_FEATURE


def test_java_says_so(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "no-idempotence-java")
    with through("idempotence-not-offered", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        with pytest.raises(JavaError, match=r"UnsupportedVersionException|error state"):
            java.produce(topic, VALUES, settings=settings)
    nothing_was_sent(proxy)


def test_both_produce_without(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "no-idempotence-plain")
    with through("idempotence-not-offered", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES, PLAIN)
        settings = {**JAVA, "enable.idempotence": "false", "bootstrap.servers": proxy.bootstrap}
        java.produce(topic, VALUES, settings=settings)
    was_told(proxy)
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: VALUES * 2}
