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

VALUES = numbers(30)


def refused(proxy: Harness) -> None:
    timed_out = fired(proxy, "not in time, and not stored")
    assert {one.error for one in timed_out} == {"REQUEST_TIMED_OUT"}
    slow = fired(proxy, "answers come slowly")
    assert min(one.latency_ms or 0 for one in slow) >= 150


def out_of_order(proxy: Harness) -> bool:
    """Whether a broker saw what was behind a batch that it does not have."""
    errors = {one.error for one in proxy.exchanges if one.api == "Produce"}
    return "OUT_OF_ORDER_SEQUENCE_NUMBER" in errors


def test_librdkafka_sends_it_again_in_its_place(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "produce-timed-out")
    with through("produce-timed-out", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES)
    refused(proxy)
    assert out_of_order(proxy)
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_java_sends_it_again_in_its_place(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "produce-timed-out-java")
    with through("produce-timed-out", cluster.bootstrap) as proxy:
        java.produce(
            topic, VALUES, settings={**JAVA, **SINGLY, "bootstrap.servers": proxy.bootstrap}
        )
    refused(proxy)
    assert out_of_order(proxy)
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_without_idempotence_it_lies_behind_what_came_after(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "produce-timed-out-plain")
    with through("produce-timed-out", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES, PLAIN)
    refused(proxy)
    assert sent.failed == {}
    (stored,) = read_log(cluster.bootstrap, topic).values()
    assert sorted(stored) == sorted(VALUES)
    assert stored.index(VALUES[12]) > stored.index(VALUES[13])
