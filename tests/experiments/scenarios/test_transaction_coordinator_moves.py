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
    through,
)
from tests.experiments.scenarios.transactions import transact, transactional

pytestmark = pytest.mark.needs_apache("4.3.1")

ONE, MOVED, TWO = numbers(3), numbers(3, 3), numbers(3, 6)


def moved(proxy: Harness) -> None:
    """Once, and it took two questions for the new one and two for what it knows."""
    told = {
        rule.name: [(one.api, one.error) for one in fired(proxy, rule.name)]
        for rule in proxy.rules.rules
    }
    assert told == {
        "the coordinator moved in mid-commit": [("EndTxn", "NOT_COORDINATOR")],
        "there is no coordinator yet": [("FindCoordinator", "COORDINATOR_NOT_AVAILABLE")] * 2,
        "the new coordinator reads its log": [("EndTxn", "COORDINATOR_LOAD_IN_PROGRESS")] * 2,
    }


def test_librdkafka_commits_once(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "moves")
    with through("transaction-coordinator-moves", cluster.bootstrap) as proxy:
        producer = transactional(proxy.bootstrap, topic)
        for values in (ONE, MOVED, TWO):
            transact(producer, topic, values)
    moved(proxy)
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: ONE + MOVED + TWO}


def test_java_commits_once(cluster: ApacheCluster, java: JavaClient) -> None:
    topic = made_topic(cluster.bootstrap, "moves-java")
    with through("transaction-coordinator-moves", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap, "transactional.id": topic}
        for values in (ONE, MOVED, TWO):
            java.produce(topic, values, settings=settings, outcome="commit")
    moved(proxy)
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: ONE + MOVED + TWO}
