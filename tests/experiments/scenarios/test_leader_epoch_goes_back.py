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
    through,
)
from tests.experiments.scenarios.leaders import asked, move_leader

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(60)
OFTEN = {"topic.metadata.refresh.interval.ms": 100}
JAVA_OFTEN = {"metadata.max.age.ms": "100"}


def kept_the_newest(proxy: Harness) -> None:
    """They were told of broker 1 in its first epoch, and sent it nothing."""
    found = fired(proxy, "an older epoch")
    assert {one.api for one in found} == {"Metadata"}
    for one in found:
        assert one.response is not None
        (partition,) = one.response["topics"][0]["partitions"]
        assert (partition["leader_id"], partition["leader_epoch"]) == (1, 0)
    assert asked(proxy, "Produce", "Fetch") == {3}
    errors = {one.error for one in proxy.exchanges if one.api in ("Produce", "Fetch")}
    assert errors <= {"", None}  # None: the last Fetch, of a consumer that closes


def test_librdkafka_keeps_the_newest(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "epoch-back", leader=2)
    move_leader(cluster, topic, 3)
    with through("leader-epoch-goes-back", cluster.bootstrap) as proxy:
        sent, received = at_once(
            lambda: send(proxy.bootstrap, topic, VALUES, OFTEN, seconds=1),
            lambda: receive(proxy.bootstrap, topic, len(VALUES), OFTEN),
        )
    kept_the_newest(proxy)
    assert sent.failed == {}
    assert received.errors == []
    assert received.values == VALUES
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_java_keeps_the_newest(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "epoch-back-java", leader=2)
    move_leader(cluster, topic, 3)
    with through("leader-epoch-goes-back", cluster.bootstrap) as proxy:
        settings = {**JAVA, **JAVA_OFTEN, "bootstrap.servers": proxy.bootstrap}
        java.pace(topic, 60, size=1, rate=60, settings=settings)
        received, _ = at_once(
            lambda: java.consume(topic, 121, group=topic, settings=settings),
            lambda: send(cluster.bootstrap, topic, VALUES, seconds=1),
        )
    kept_the_newest(proxy)
    assert [one.offset for one in received] == list(range(121))
