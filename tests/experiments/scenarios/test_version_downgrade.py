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

SECONDS = 5
"""Broker 1 is the old one from 2.2 s to 3.7 s, and the new one again from 4.4 s on."""
OLD = {"Produce": 9, "Fetch": 12}


def versions(proxy: Harness, connection: int, api: str) -> set[int]:
    return {
        one.version for one in proxy.exchanges if one.connection == connection and one.api == api
    }


def keeps_to_what_is_offered(proxy: Harness, api: str) -> None:
    """On connections to which an older broker said so, and on those only."""
    older = {one.connection for one in fired(proxy, "broker 1 offers what 2.8 did")}
    newer = {one.connection for one in proxy.exchanges if one.broker == 1} - older
    assert {v for one in older for v in versions(proxy, one, api)} == {OLD[api]}
    assert min(v for one in newer for v in versions(proxy, one, api)) > OLD[api]


def test_librdkafka_asks_each_connection(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "downgrade", 3)
    values = numbers(300)
    with through("version-downgrade", cluster.bootstrap) as proxy:
        sent, received = at_once(
            lambda: send(proxy.bootstrap, topic, values, partitions=3, seconds=SECONDS),
            lambda: receive(proxy.bootstrap, topic, len(values)),
        )
    assert {one.broker for one in fired(proxy, "broker 1 is restarted")} == {1}
    for api in OLD:
        keeps_to_what_is_offered(proxy, api)
    assert proxy.proxy.totals.undecoded == 0
    assert sent.failed == {}
    assert received.errors == []
    assert {*received.values} == {*values}
    assert read_log(cluster.bootstrap, topic) == spread(values, 3)


def test_java_asks_each_connection(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "downgrade-java")
    with through("version-downgrade", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        took = java.pace(topic, 400, size=1, rate=80, settings=settings)
    assert len(took) == 400
    keeps_to_what_is_offered(proxy, "Produce")
    assert sum(map(len, read_log(cluster.bootstrap, topic).values())) == 401
