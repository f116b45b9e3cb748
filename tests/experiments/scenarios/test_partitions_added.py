from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    Sent,
    at_once,
    fired,
    made_topic,
    numbers,
    receive,
    send,
    through,
    until,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

HIDDEN = "the last partition is not there yet"
VALUES = numbers(120)
LAST = VALUES[2::3]
"""What is in the last of three partitions."""
ENOUGH = 81
"""More than there is in the others."""


def send_to_reader(cluster: ApacheCluster, proxy: Harness, topic: str) -> Sent:
    """To all partitions in turn, once somebody reads those that he knows."""
    until(lambda: any(one.api == "Fetch" for one in list(proxy.exchanges)), "somebody reads")
    return send(cluster.bootstrap, topic, VALUES, partitions=3, seconds=2)


def rebalanced_once(proxy: Harness) -> None:
    """A group of one, which needs no second request to join, joined twice."""
    hidden = fired(proxy, HIDDEN)
    assert {one.api for one in hidden} == {"Metadata"}
    for one in hidden:
        assert one.response is not None
        assert [len(topic["partitions"]) for topic in one.response["topics"]] == [2]
    joined = [one for one in proxy.exchanges if one.api == "JoinGroup" and not one.error]
    assert len(joined) == 2
    assert sorted(one.ts for one in joined)[1] > max(one.ts for one in hidden)


def test_librdkafka_reads_all_of_it_from_the_earliest(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "added", 3)
    often = {"topic.metadata.refresh.interval.ms": 100}
    with through("partitions-added", cluster.bootstrap) as proxy:
        _, received = at_once(
            lambda: send_to_reader(cluster, proxy, topic),
            lambda: receive(proxy.bootstrap, topic, len(VALUES), often),
        )
    rebalanced_once(proxy)
    assert received.errors == []
    assert {*received.values} == {*VALUES}


def test_java_reads_what_is_new_from_the_latest(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "added-java", 3)
    with through("partitions-added", cluster.bootstrap) as proxy:
        own = {"metadata.max.age.ms": "100", "auto.offset.reset": "latest"}
        settings = {**JAVA, **own, "bootstrap.servers": proxy.bootstrap}
        _, received = at_once(
            lambda: send_to_reader(cluster, proxy, topic),
            lambda: java.consume(topic, ENOUGH, group=topic, settings=settings),
        )
    rebalanced_once(proxy)
    last = [one.value for one in received if one.partition == 2]
    assert last
    assert last[0] in LAST[1:]
    assert last == LAST[LAST.index(last[0]) :][: len(last)]
