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

VALUES = numbers(120)
FIRST = 30
"""The first that is refused."""
REFUSED = "one of those under way is refused"


def most_under_way(proxy: Harness) -> int:
    """How many Produce requests of one connection waited for their answers at a time."""
    spans = [
        (one.ts, one.ts + int((one.latency_ms or 0) * 1e6))
        for one in proxy.exchanges
        if one.api == "Produce"
    ]
    return max(sum(begin <= at < end for begin, end in spans) for at, _ in spans)


def test_without_a_refusal_the_order_holds(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "pipelined-in-order")
    few = VALUES[:FIRST]
    with through("pipelined-produce", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, few, PLAIN)
    assert fired(proxy, REFUSED) == []
    slow = fired(proxy, "answers come slowly")
    assert len(slow) == len(few)
    assert all((exchange.latency_ms or 0) >= 150 for exchange in slow)
    assert most_under_way(proxy) > 1
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: few}


def test_an_idempotent_producer_keeps_the_order(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "pipelined-idempotent")
    with through("pipelined-produce", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES)
    assert {one.error for one in fired(proxy, REFUSED)} == {"NOT_ENOUGH_REPLICAS"}
    behind = [one.error for one in proxy.exchanges if one.api == "Produce"]
    assert "OUT_OF_ORDER_SEQUENCE_NUMBER" in behind
    assert most_under_way(proxy) > 1
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_without_idempotence_a_retry_lies_behind_what_came_after(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "pipelined-plain")
    with through("pipelined-produce", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES, PLAIN)
    assert fired(proxy, REFUSED)
    assert sent.failed == {}
    (stored,) = read_log(cluster.bootstrap, topic).values()
    assert sorted(stored) == sorted(VALUES)
    assert stored.index(VALUES[FIRST]) > stored.index(VALUES[FIRST + 1])


def java_stores(cluster: ApacheCluster, java: JavaClient, topic: str, **own: str) -> list[bytes]:
    made_topic(cluster.bootstrap, topic)
    settings = {**JAVA, **SINGLY, **{name.replace("_", "."): value for name, value in own.items()}}
    with through("pipelined-produce", cluster.bootstrap) as proxy:
        java.produce(topic, VALUES, settings={**settings, "bootstrap.servers": proxy.bootstrap})
    assert fired(proxy, REFUSED)
    (stored,) = read_log(cluster.bootstrap, topic).values()
    assert sorted(stored) == sorted(VALUES)
    return stored


def test_java(cluster: ApacheCluster, java: JavaClient) -> None:
    plain = {"enable_idempotence": "false"}
    alone = {"max_in_flight_requests_per_connection": "1"}
    assert java_stores(cluster, java, "pipelined-java") == VALUES
    assert java_stores(cluster, java, "pipelined-java-plain", **plain) != VALUES
    assert java_stores(cluster, java, "pipelined-java-alone", **plain, **alone) == VALUES
