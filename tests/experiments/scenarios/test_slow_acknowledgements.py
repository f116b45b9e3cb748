from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    PLAIN,
    SINGLY,
    fired,
    made_topic,
    numbers,
    read_log,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(8)


def refused(proxy: Harness) -> None:
    slow = fired(proxy, "acknowledgements come slowly")
    assert min(one.latency_ms or 0 for one in slow) >= 500
    late = fired(proxy, "stored, but not in time")
    assert {one.error for one in late} == {"REQUEST_TIMED_OUT"}


def test_librdkafka_stores_each_record_once(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "slow-acknowledgements")
    with through("slow-acknowledgements", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES)
    refused(proxy)
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_java_stores_each_record_once(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "slow-acknowledgements-java")
    with through("slow-acknowledgements", cluster.bootstrap) as proxy:
        java.produce(
            topic, VALUES, settings={**JAVA, **SINGLY, "bootstrap.servers": proxy.bootstrap}
        )
    refused(proxy)
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_without_idempotence_some_are_stored_twice(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "slow-acknowledgements-plain")
    with through("slow-acknowledgements", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES, PLAIN)
    refused(proxy)
    assert sent.failed == {}
    (stored,) = read_log(cluster.bootstrap, topic).values()
    assert set(stored) == set(VALUES)
    assert len(stored) > len(VALUES)
