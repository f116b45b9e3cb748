from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    at_once,
    fired,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    spread,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(300)
SECONDS = 6.0
"""Storms are from 2.0 to 2.5 s and from 4.5 to 5 s: a client that slept through the first sees the second."""


def errors(proxy: Harness, rule: str) -> set[str | None]:
    return {exchange.error for exchange in fired(proxy, rule)}


def test_librdkafka_goes_on_when_there_are_leaders_again(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "storm", 3)
    with through("leader-failover-storm", cluster.bootstrap) as proxy:
        sent, received = at_once(
            lambda: send(proxy.bootstrap, topic, VALUES, partitions=3, seconds=SECONDS),
            lambda: receive(proxy.bootstrap, topic, len(VALUES)),
        )
    assert sent.failed == {}
    assert sent.seconds < SECONDS + 10
    assert read_log(cluster.bootstrap, topic) == spread(VALUES, 3)
    assert received.errors == []
    assert sorted(received.values) == sorted(VALUES)
    assert errors(proxy, "nobody knows a leader") == {"LEADER_NOT_AVAILABLE"}
    assert errors(proxy, "produced to a broker that does not lead") == {"NOT_LEADER_OR_FOLLOWER"}
    assert errors(proxy, "fetched from a broker that does not lead") == {"NOT_LEADER_OR_FOLLOWER"}
    assert {row.api: row.count for row in proxy.tally.rows()}["JoinGroup"] == 2  # no rebalance


def test_java_begins_a_new_fetch_session(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "storm-java", 3)
    with through("leader-failover-storm", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        _, received = at_once(
            lambda: send(cluster.bootstrap, topic, VALUES, partitions=3, seconds=SECONDS),
            lambda: java.consume(topic, len(VALUES), group=topic, settings=settings),
        )
    assert sorted(record.value for record in received) == sorted(VALUES)
    assert errors(proxy, "the fetch session is gone") == {"FETCH_SESSION_ID_NOT_FOUND"}
    assert errors(proxy, "fetched from a broker that does not lead") == {"NOT_LEADER_OR_FOLLOWER"}
