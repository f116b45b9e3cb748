from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    fired,
    made_topic,
    numbers,
    read_log,
    send,
    through,
)
from tests.experiments.scenarios.transactions import transact, transactional

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(3)


def refused(proxy: Harness) -> None:
    late = fired(proxy, "there is no producer id yet")
    assert [one.error for one in late] == ["REQUEST_TIMED_OUT"] * 2
    asked = [one for one in proxy.exchanges if one.api == "InitProducerId"]
    assert [one.error for one in asked if one not in late] == [""]
    assert all(one.ts > asked[-1].ts for one in proxy.exchanges if one.api == "Produce")


def test_an_idempotent_producer_asks_again(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "producer-id-late")
    with through("producer-id-late", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES)
    refused(proxy)
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_a_transactional_producer_asks_again(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "producer-id-late-transactional")
    with through("producer-id-late", cluster.bootstrap) as proxy:
        transact(transactional(proxy.bootstrap, topic), topic, VALUES)
    refused(proxy)
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: VALUES}


def test_java_asks_again(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "producer-id-late-java")
    with through("producer-id-late", cluster.bootstrap) as proxy:
        java.produce(topic, VALUES, settings={**JAVA, "bootstrap.servers": proxy.bootstrap})
    refused(proxy)
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}
