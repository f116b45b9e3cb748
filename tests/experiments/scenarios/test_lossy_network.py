from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.kafka import (
    PLAIN,
    QUICK,
    SOON,
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

VALUES = numbers(240)
MANY = numbers(1200)
"""By 2 % each, one of them is all but sure to lose its answer, whichever brokers lead."""
LOST = "produced, but nobody says so"
IMPATIENT = {"socket.timeout.ms": 1000}
"""So long a client waits for an answer."""


def test_an_idempotent_producer_stores_each_record_once(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "lossy", 3)
    with through("lossy-network", cluster.bootstrap) as proxy:
        sent, received = at_once(
            lambda: send(proxy.bootstrap, topic, MANY, IMPATIENT, partitions=3),
            lambda: receive(proxy.bootstrap, topic, len(MANY)),
        )
    assert {exchange.api for exchange in fired(proxy, LOST)} == {"Produce"}
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == spread(MANY, 3)
    assert received.errors == []
    assert sorted(received.values) == sorted(MANY)


def test_without_idempotence_some_are_stored_twice(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "lossy-plain")
    values = VALUES[:160]
    with through("lossy-network", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values, {**PLAIN, **IMPATIENT})
    assert fired(proxy, LOST)
    assert sent.failed == {}
    (stored,) = read_log(cluster.bootstrap, topic).values()
    assert {*stored} == {*values}
    assert len(stored) > len(values)


def test_a_line_that_breaks_costs_a_consumer_nothing(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "lossy-lines")
    few = {"fetch.message.max.bytes": 1}  # a record a response
    send(cluster.bootstrap, topic, VALUES)
    with through("lossy-network", cluster.bootstrap) as proxy:
        received = receive(proxy.bootstrap, topic, len(VALUES), few)
    assert {exchange.api for exchange in fired(proxy, "the line breaks")} == {"Fetch"}
    assert received.errors == []
    assert received.values == VALUES


def test_topics_are_made_in_another_order(cluster: ApacheCluster) -> None:
    names = ["lossy-first", "lossy-second"]
    with through("lossy-network", cluster.bootstrap) as proxy:
        admin = AdminClient({**QUICK, "bootstrap.servers": proxy.bootstrap})
        admin.list_topics(timeout=SOON)  # so that it is connected, and both go the same way
        for made in [admin.create_topics([NewTopic(name, 1, 1)]) for name in names]:
            for future in made.values():
                future.result(SOON)
        (rule,) = (one for one in proxy.rules.rules if "overtake" in one.name)
        assert rule.fired == 2
    assert {*names} <= AdminClient(
        {"bootstrap.servers": cluster.bootstrap}
    ).list_topics().topics.keys()
