"""Administrators who do not learn what became of a topic, or ask the wrong broker."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster, UnavailableError
from barnabas.peers.apache.client import JavaError
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.java_errors import ErrorClient
from tests.experiments.scenarios.kafka import JAVA, QUICK, fired, through
from tests.waiting import SOON, until

pytestmark = pytest.mark.needs_apache("4.3.1")

CREATED, DELETED = "created, but nobody says so", "deleted, but nobody says so"
MOVED = "another broker is the controller"


@pytest.fixture(scope="module")
def java_errors() -> Iterator[ErrorClient]:
    """Return a Java client that continues after exceptions."""
    try:
        with ErrorClient() as running:
            yield running
    except UnavailableError as problem:
        pytest.skip(str(problem))


def exists(cluster: ApacheCluster, topic: str) -> bool:
    """Return whether the brokers have a topic."""
    admin = AdminClient({**QUICK, "bootstrap.servers": cluster.bootstrap})
    return topic in admin.list_topics(timeout=SOON).topics


def creation(admin: AdminClient, topic: str) -> Future[None]:
    """Send CreateTopics for a topic with one partition."""
    future: Future[None] = admin.create_topics([NewTopic(topic, 1, 1)])[topic]
    return future


def deletion(admin: AdminClient, topic: str) -> Future[None]:
    """Send DeleteTopics for a topic."""
    future: Future[None] = admin.delete_topics([topic])[topic]
    return future


def replies_lost(proxy: Harness) -> None:
    """Check that the controller carried out the two requests without a response."""
    for rule, api in ((CREATED, "CreateTopics"), (DELETED, "DeleteTopics")):
        (lost,) = fired(proxy, rule)
        assert (lost.api, lost.error) == (api, "")


def result(future: Future[None]) -> str | None:
    """Return the name of a call's error, or None."""
    try:
        future.result(SOON)
    except KafkaException as problem:
        name: str = problem.args[0].name()
        return name
    return None


def test_librdkafka_reports_a_broken_connection(cluster: ApacheCluster) -> None:
    topic = "topic-creation-reply-lost"
    with through(topic, cluster.bootstrap) as proxy:
        admin = AdminClient({**QUICK, "bootstrap.servers": proxy.bootstrap})
        assert result(creation(admin, topic)) == "_TRANSPORT"
        until(lambda: exists(cluster, topic), "the topic is there")
        assert result(creation(admin, topic)) == "TOPIC_ALREADY_EXISTS"
        assert result(deletion(admin, topic)) == "_TRANSPORT"
        until(lambda: not exists(cluster, topic), "the topic is gone")
        assert result(deletion(admin, topic)) == "UNKNOWN_TOPIC_OR_PART"
    replies_lost(proxy)


def test_java_asks_again_and_reports_what_it_did_itself(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = "topic-creation-reply-lost-java"
    with through("topic-creation-reply-lost", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        assert java_errors.try_create(topic, settings) == "TopicExistsException"
        until(lambda: exists(cluster, topic), "the topic is there")
        with pytest.raises(JavaError, match="UnknownTopicOrPartitionException"):
            java_errors.administer("delete", topic, settings, 0)
        until(lambda: not exists(cluster, topic), "the topic is gone")
    replies_lost(proxy)
    expected = {
        "CreateTopics": "TOPIC_ALREADY_EXISTS",
        "DeleteTopics": "UNKNOWN_TOPIC_OR_PARTITION",
    }
    for api, error in expected.items():
        assert [one.error for one in expect.of_api(proxy, api)] == ["", error]


def test_java_looks_for_the_controller(cluster: ApacheCluster, java_errors: ErrorClient) -> None:
    topic = "controller-moves-java"
    with through("controller-moves", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        assert java_errors.try_create(topic, settings) is None
        assert exists(cluster, topic)
        java_errors.administer("delete", topic, settings, 0)
    until(lambda: not exists(cluster, topic), "the topic is gone")
    assert {(one.api, one.error) for one in fired(proxy, MOVED)} == {
        ("CreateTopics", "NOT_CONTROLLER"),
        ("DeleteTopics", "NOT_CONTROLLER"),
    }
    first = min(one.ts for one in fired(proxy, MOVED))
    assert [one for one in expect.of_api(proxy, "Metadata") if one.ts > first]


def test_librdkafka_reports_that_the_controller_is_another_one(cluster: ApacheCluster) -> None:
    topic = "controller-moves"
    with through(topic, cluster.bootstrap) as proxy:
        admin = AdminClient({**QUICK, "bootstrap.servers": proxy.bootstrap})
        refused = result(creation(admin, topic))
        assert not exists(cluster, topic)
        until(lambda: result(creation(admin, topic)) is None, "the topic is created")
    assert refused == "NOT_CONTROLLER"
    expect.rules({MOVED: "CreateTopics NOT_CONTROLLER"})(proxy)
    assert exists(cluster, topic)
