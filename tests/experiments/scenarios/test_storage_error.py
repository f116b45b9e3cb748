from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    SINGLY,
    fired,
    made_topic,
    numbers,
    read_log,
    send,
    spread,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(60)


def refused(proxy: Harness) -> None:
    offline = fired(proxy, "the log directory is offline")
    assert {one.error for one in offline} == {"KAFKA_STORAGE_ERROR"}
    first = min(one.ts for one in offline)
    assert any(one.api == "Metadata" and one.ts > first for one in proxy.exchanges)


def test_librdkafka_sends_again_what_was_refused(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "storage-error", 3)
    with through("storage-error", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES, partitions=3)
    refused(proxy)
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == spread(VALUES, 3)


def test_java_sends_again_what_was_refused(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "storage-error-java")
    values = numbers(200)  # it sends several a request
    with through("storage-error", cluster.bootstrap) as proxy:
        java.produce(
            topic, values, settings={**JAVA, **SINGLY, "bootstrap.servers": proxy.bootstrap}
        )
    refused(proxy)
    assert read_log(cluster.bootstrap, topic) == {0: values}
