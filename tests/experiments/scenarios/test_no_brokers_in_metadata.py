from __future__ import annotations

import pytest

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    at_once,
    fired,
    made_topic,
    numbers,
    read_log,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(60)


def test_java_keeps_the_brokers_that_it_knows(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "no-brokers")
    with through("no-brokers-in-metadata", cluster.bootstrap) as proxy:
        often = {**JAVA, "metadata.max.age.ms": "100"}
        settings = {**often, "bootstrap.servers": proxy.bootstrap}
        java.produce(topic, VALUES, settings=settings)
        received, _ = at_once(
            lambda: java.consume(topic, 2 * len(VALUES), group=topic, settings=settings),
            lambda: send(cluster.bootstrap, topic, VALUES, seconds=1),
        )
    told = fired(proxy, "a broker that knows nobody")
    assert {one.api for one in told} == {"Metadata"}
    for one in told:
        assert one.response is not None
        assert one.response["brokers"] == []
    fetched = min(one.ts for one in proxy.exchanges if one.api == "Fetch")
    assert [one for one in told if one.ts > fetched]
    joined = [one for one in proxy.exchanges if one.api == "JoinGroup" and not one.error]
    assert len(joined) == 1
    assert [one.value for one in received] == VALUES * 2
    assert read_log(cluster.bootstrap, topic) == {0: VALUES * 2}
