"""Requests of administrators that are refused, sent to another broker, or done unnoticed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Final, Literal

import pytest
from confluent_kafka import ElectionType, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaError
from tests.experiments.scenarios.expectations import of_api
from tests.experiments.scenarios.java_client import ScenarioClient
from tests.experiments.scenarios.kafka import JAVA, QUICK, made_topic, through
from tests.waiting import SOON

pytestmark = pytest.mark.needs_apache("4.3.1")

CHANGES: Final = ("CreateTopics", "CreatePartitions", "DeleteTopics")


class Administrator:
    """An AdminClient of confluent-kafka that changes topics; its calls return an error's name, or ""."""

    def __init__(self, bootstrap: str) -> None:
        self._admin = AdminClient({**QUICK, "bootstrap.servers": bootstrap})

    def create(self, topic: str) -> str:
        """Create a topic with one partition."""
        return error_of(lambda: self._admin.create_topics([NewTopic(topic, 1)]))

    def grow(self, topic: str) -> str:
        """Give a topic three partitions."""
        return error_of(lambda: self._admin.create_partitions([NewPartitions(topic, 3)]))

    def delete(self, topic: str) -> str:
        """Delete a topic."""
        return error_of(lambda: self._admin.delete_topics([topic]))

    def elect(self, topic: str) -> str:
        """Elect the preferred leader of a topic's first partition, and return the partition's error."""
        partition = TopicPartition(topic, 0)
        results = self._admin.elect_leaders(ElectionType.PREFERRED, [partition]).result(SOON)
        [problem] = results.values()
        return "" if problem is None else str(problem.name())


def error_of(call: Callable[[], Mapping[str, Future[Any]]]) -> str:
    """Return the name of the error of a call about one topic, or ""."""
    [future] = call().values()
    try:
        future.result(SOON)
    except KafkaException as problem:
        return str(problem.args[0].name())
    return ""


def java_error(
    java: ScenarioClient,
    call: Literal["create", "grow", "delete"],
    topic: str,
    bootstrap: str,
    partitions: int = 3,
) -> str:
    """Return the exception of a Java administrator's call by its class, or ""."""
    try:
        java.administer(call, topic, {**JAVA, "bootstrap.servers": bootstrap}, partitions)
    except JavaError as problem:
        return str(problem).split(": ")[1].rpartition(".")[2]
    return ""


def errors_by_api(proxy: Harness, *apis: str) -> dict[str, list[str | None]]:
    """Return the errors of the requests of each API, in their order."""
    return {api: [one.error for one in of_api(proxy, api)] for api in apis}


def refused_twice(proxy: Harness) -> None:
    """Check that each API was requested three times, and refused twice."""
    for errors in errors_by_api(proxy, *CHANGES).values():
        assert errors == ["NOT_CONTROLLER", "NOT_CONTROLLER", ""]


def test_librdkafka_reports_that_the_controller_has_moved(cluster: ApacheCluster) -> None:
    with through("controller-moves", cluster.bootstrap) as proxy:
        admin = Administrator(proxy.bootstrap)
        for call in (admin.create, admin.grow, admin.delete):
            assert [call("moves") for _ in range(3)] == ["NOT_CONTROLLER"] * 2 + [""]
    refused_twice(proxy)


def test_java_repeats_requests_when_the_controller_has_moved(
    cluster: ApacheCluster, java: ScenarioClient
) -> None:
    with through("controller-moves", cluster.bootstrap) as proxy:
        assert java_error(java, "create", "moves-java", proxy.bootstrap, 1) == ""
        assert java_error(java, "grow", "moves-java", proxy.bootstrap) == ""
        assert java_error(java, "delete", "moves-java", proxy.bootstrap) == ""
    refused_twice(proxy)
    for api in CHANGES:
        first, _, last = of_api(proxy, api)
        asked = [one.ts for one in of_api(proxy, "Metadata", "DescribeCluster")]
        assert [ts for ts in asked if first.ts < ts < last.ts]


def test_librdkafka_does_not_report_unnoticed_changes_as_done(cluster: ApacheCluster) -> None:
    with through("topic-changes-unnoticed", cluster.bootstrap) as proxy:
        admin = Administrator(proxy.bootstrap)
        assert admin.create("unnoticed") == "_TRANSPORT"
        assert admin.create("unnoticed") == "TOPIC_ALREADY_EXISTS"
        assert admin.create("unnoticed-late") == "REQUEST_TIMED_OUT"
        assert admin.create("unnoticed-late") == "TOPIC_ALREADY_EXISTS"
        assert admin.grow("unnoticed") == "_TRANSPORT"
        assert admin.grow("unnoticed") == "INVALID_PARTITIONS"
        assert admin.delete("unnoticed") == "_TRANSPORT"
        assert admin.delete("unnoticed") == "UNKNOWN_TOPIC_OR_PART"
    assert [len(of_api(proxy, api)) for api in CHANGES] == [4, 2, 2]


def test_java_reports_what_the_broker_finds_after_unnoticed_changes(
    cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = "unnoticed-java"
    with through("topic-changes-unnoticed", cluster.bootstrap) as proxy:
        reported = [
            java_error(java, "create", topic, proxy.bootstrap, 1),
            java_error(java, "create", f"{topic}-late", proxy.bootstrap),
            java_error(java, "grow", topic, proxy.bootstrap),
            java_error(java, "delete", topic, proxy.bootstrap),
        ]
    assert reported == [
        "TopicExistsException",
        "TimeoutException",
        "InvalidPartitionsException",
        "UnknownTopicOrPartitionException",
    ]
    assert errors_by_api(proxy, *CHANGES) == {
        "CreateTopics": ["", "TOPIC_ALREADY_EXISTS", "REQUEST_TIMED_OUT"],
        "CreatePartitions": ["", "INVALID_PARTITIONS"],
        "DeleteTopics": ["", "UNKNOWN_TOPIC_OR_PARTITION"],
    }
    direct = AdminClient({"bootstrap.servers": cluster.bootstrap})
    topics = direct.list_topics(timeout=SOON).topics
    assert (topic in topics, f"{topic}-late" in topics) == (False, True)


def test_librdkafka_reports_each_refusal_once(cluster: ApacheCluster) -> None:
    elected = made_topic(cluster.bootstrap, "refused-elections")
    with through("admin-requests-refused", cluster.bootstrap) as proxy:
        admin = Administrator(proxy.bootstrap)
        created = [admin.create("refused") for _ in range(3)]
        grown = [admin.grow("refused") for _ in range(2)]
        elections = [admin.elect(elected) for _ in range(3)]
    assert created == ["POLICY_VIOLATION", "INVALID_REPLICATION_FACTOR", ""]
    assert grown == ["REASSIGNMENT_IN_PROGRESS", ""]
    assert elections == [
        "PREFERRED_LEADER_NOT_AVAILABLE",
        "ELIGIBLE_LEADERS_NOT_AVAILABLE",
        "ELECTION_NOT_NEEDED",
    ]
    counts = [
        len(of_api(proxy, api)) for api in ("CreateTopics", "CreatePartitions", "ElectLeaders")
    ]
    assert counts == [3, 2, 3]


def test_java_reports_each_refusal_once(cluster: ApacheCluster, java: ScenarioClient) -> None:
    topic = "refused-java"
    with through("admin-requests-refused", cluster.bootstrap) as proxy:
        created = [java_error(java, "create", topic, proxy.bootstrap, 1) for _ in range(3)]
        grown = [java_error(java, "grow", topic, proxy.bootstrap) for _ in range(2)]
    assert created == ["PolicyViolationException", "InvalidReplicationFactorException", ""]
    assert grown == ["ReassignmentInProgressException", ""]
    assert [len(of_api(proxy, api)) for api in ("CreateTopics", "CreatePartitions")] == [3, 2]
