from __future__ import annotations

import pytest
from confluent_kafka import Producer

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    QUICK,
    SOON,
    Sent,
    at_once,
    fired,
    made_topic,
    numbers,
    read_log,
    send,
    through,
    until,
)
from tests.experiments.scenarios.leaders import asked, move_leader

pytestmark = pytest.mark.needs_apache("4.3.1")

BEFORE, AFTER = numbers(20), numbers(20, 20)
"""Values that are sent to one leader, and to the next one."""


def refused(proxy: Harness, api: str) -> None:
    """The former leader refused and named the new one, at an address where nobody listens."""
    found = fired(proxy, "nobody listens at the new leader's address")
    refusals = {(one.api, one.broker, one.error) for one in found}
    assert refusals == {(api, 2, "NOT_LEADER_OR_FOLLOWER")}
    for one in found:
        assert one.response is not None
        named = [(node["node_id"], node["port"]) for node in one.response["node_endpoints"]]
        assert named == [(3, 1)]
    first = min(one.ts for one in found)
    assert [one for one in proxy.exchanges if one.api == "Metadata" and one.ts > first]
    assert asked(proxy, api) == {2, 3}


def test_librdkafka_produces_to_the_right_address(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "unreachable", leader=2)
    sent = Sent()
    with through("unreachable-leader-hint", cluster.bootstrap) as proxy:
        settings = {"bootstrap.servers": proxy.bootstrap, "enable.idempotence": True}
        producer = Producer({**QUICK, **settings})
        for values in (BEFORE, AFTER):
            for value in values:
                producer.produce(topic, value, on_delivery=lambda e, m: sent.told(m.value(), e))
            assert producer.flush(SOON) == 0
            if values is BEFORE:
                move_leader(cluster, topic, 3)
    refused(proxy, "Produce")
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: BEFORE + AFTER}


def test_java_reads_from_the_right_address(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "unreachable-java", leader=2)

    def move_from_reader() -> None:
        send(cluster.bootstrap, topic, BEFORE)
        until(lambda: asked(proxy, "Fetch"), "somebody reads")
        move_leader(cluster, topic, 3)
        send(cluster.bootstrap, topic, AFTER)

    with through("unreachable-leader-hint", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        received, _ = at_once(
            lambda: java.consume(topic, 40, group=topic, settings=settings), move_from_reader
        )
    refused(proxy, "Fetch")
    assert [one.value for one in received] == BEFORE + AFTER
