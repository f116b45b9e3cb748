"""A member asks for committed offsets that its coordinator does not have yet."""

from __future__ import annotations

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient
from tests.experiments.scenarios.kafka import JAVA, fired, made_topic, numbers, send, through

pytestmark = pytest.mark.needs_apache("4.3.1")

REFUSED = {
    "the coordinator is loading the offsets": "COORDINATOR_LOAD_IN_PROGRESS",
    "the coordinator is not available": "COORDINATOR_NOT_AVAILABLE",
    "another broker is the coordinator": "NOT_COORDINATOR",
}


def refused(proxy: Harness) -> None:
    """Each once; then it is told, and only then it fetches."""
    rules = {name: [one.error for one in fired(proxy, name)] for name in REFUSED}
    assert rules == {name: [error] for name, error in REFUSED.items()}
    told = min(one.end for one in proxy.exchanges if one.api == "OffsetFetch" and not one.rules)
    assert all(one.ts > told for one in proxy.exchanges if one.api == "Fetch")


def test_java_asks_again(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "offsets-not-loaded-java")
    values = numbers(12)
    assert send(cluster.bootstrap, topic, values).failed == {}
    with through("offsets-not-loaded", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        received = java.consume(topic, len(values), group=topic, settings=settings)
    refused(proxy)
    assert [record.value for record in received] == values
