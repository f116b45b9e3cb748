"""Clients that lack a right, and get it a moment later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaError
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.java_client import ScenarioClient
from tests.experiments.scenarios.java_errors import ErrorClient
from tests.experiments.scenarios.kafka import (
    FEW,
    JAVA,
    JAVA_FEW,
    QUICK,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    through,
)
from tests.experiments.scenarios.transactions import transact, transactional
from tests.peers.java.client import Transaction
from tests.waiting import SOON, until

pytestmark = pytest.mark.needs_apache("4.3.1")

TOPIC, GROUP = "TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED"
TRANSACTIONAL_ID = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
CLUSTER = "CLUSTER_AUTHORIZATION_FAILED"

DESCRIBED = {"the topic may not be described": f"Metadata {TOPIC}"}
WRITTEN = {"the topic may not be written": f"Produce {TOPIC}"}
READ = {"the topic may not be read": f"Fetch {TOPIC}"}

OFTEN = {"topic.metadata.refresh.interval.ms": 100}
VALUES = numbers(20)


def send_persistently(bootstrap: str, topic: str, values: Sequence[bytes]) -> list[str]:
    """Send each value with one producer until it is stored, and return the names of all errors."""
    own: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "enable.idempotence": True,
        "linger.ms": 0,
    }
    producer = Producer({**QUICK, **OFTEN, **own})
    problems: list[str] = []

    def stored(value: bytes) -> bool:
        results: list[KafkaError | None] = []
        try:
            producer.produce(
                topic, value, partition=0, on_delivery=lambda error, _: results.append(error)
            )
        except KafkaException as problem:
            results.append(problem.args[0])
        producer.flush(SOON)
        problems.extend(error.name() for error in results if error is not None)
        return all(error is None for error in results)

    for value in values:
        until(lambda value=value: stored(value), f"{value!r} is stored")  # type: ignore[misc]
    return problems


def test_librdkafka_reports_what_it_may_not_write_and_continues(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "topic-not-authorized-writer")
    with through("topic-not-authorized", cluster.bootstrap) as proxy:
        problems = send_persistently(proxy.bootstrap, topic, VALUES)
    expect.rules(DESCRIBED | WRITTEN)(proxy)
    assert {*problems} == {TOPIC}
    assert len(problems) >= 2
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


def test_java_reports_what_it_may_not_write_and_continues(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = made_topic(cluster.bootstrap, "topic-not-authorized-java-writer")
    with through("topic-not-authorized", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        produced = java_errors.produce_each(topic, VALUES, settings)
    expect.rules(DESCRIBED | WRITTEN)(proxy)
    refused = [place for place, problem in enumerate(produced.problems) if problem is not None]
    assert len(refused) == 2
    assert {*produced.problems} == {None, "TopicAuthorizationException"}
    stored = [value for place, value in enumerate(VALUES) if place not in refused]
    assert read_log(cluster.bootstrap, topic) == {0: stored}


def test_librdkafka_reports_what_it_may_not_read_and_misses_nothing(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "topic-not-authorized-reader")
    send(cluster.bootstrap, topic, VALUES)
    with through("topic-not-authorized", cluster.bootstrap) as proxy:
        received = receive(proxy.bootstrap, topic, len(VALUES), {**FEW, **OFTEN})
    expect.rules(DESCRIBED | READ)(proxy)
    assert {*received.errors} == {TOPIC}
    assert received.values == VALUES


def test_java_reports_what_it_may_not_read_and_misses_nothing(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = made_topic(cluster.bootstrap, "topic-not-authorized-java-reader")
    send(cluster.bootstrap, topic, VALUES)
    with through("topic-not-authorized", cluster.bootstrap) as proxy:
        own = {"bootstrap.servers": proxy.bootstrap, "metadata.max.age.ms": "500"}
        read = java_errors.consume_on(topic, VALUES[-1], {**JAVA, **JAVA_FEW, **own})
    expect.rules(DESCRIBED | READ)(proxy)
    assert {*read.problems} == {"TopicAuthorizationException"}
    assert len(read.problems) >= 2
    assert read.values == VALUES


def test_who_may_not_create_a_topic_asks_again(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    names = ["topic-not-authorized-made", "topic-not-authorized-java-made"]
    with through("topic-not-authorized", cluster.bootstrap) as proxy:
        admin = AdminClient({**QUICK, "bootstrap.servers": proxy.bootstrap})
        with pytest.raises(KafkaException, match=TOPIC):
            admin.create_topics([NewTopic(names[0], 1, 1)])[names[0]].result(SOON)
        admin.create_topics([NewTopic(names[0], 1, 1)])[names[0]].result(SOON)
    expect.rules({"the topic may not be created": f"CreateTopics {TOPIC}"})(proxy)
    with through("topic-not-authorized", cluster.bootstrap) as proxy:
        settings = {"bootstrap.servers": proxy.bootstrap}
        problems = [java_errors.try_create(names[1], settings) for _ in range(2)]
    assert problems == ["TopicAuthorizationException", None]
    direct = AdminClient({"bootstrap.servers": cluster.bootstrap})
    assert {*names} <= direct.list_topics(timeout=SOON).topics.keys()


GROUP_RULES = {
    "the group may not be described": f"FindCoordinator {GROUP}",
    "the group may not be joined": f"JoinGroup {GROUP}",
}


def test_librdkafka_joins_when_it_may_and_commits_later(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "group-not-authorized")
    send(cluster.bootstrap, topic, VALUES)
    with through("group-not-authorized", cluster.bootstrap) as proxy:
        own = {"group.id": topic, "auto.offset.reset": "earliest", "enable.auto.commit": False}
        consumer = Consumer({**QUICK, **own, "bootstrap.servers": proxy.bootstrap})
        values: list[bytes | None] = []
        problems: list[str] = []
        commits: list[str | None] = []

        def read() -> bool:
            message = consumer.poll(0.1)
            if message is None:
                return False
            if problem := message.error():
                problems.append(problem.name())
                return False
            values.append(message.value())
            try:
                consumer.commit(message, asynchronous=False)
                commits.append(None)
            except KafkaException as refusal:
                commits.append(refusal.args[0].name())
            return len(values) == len(VALUES)

        try:
            consumer.subscribe([topic])
            until(read, "everything is read")
        finally:
            consumer.close()
    expect.rules(GROUP_RULES | {"the offsets may not be committed": f"OffsetCommit {GROUP}"})(proxy)
    assert {*problems} == {GROUP}  # it may report the same error once
    assert values == VALUES
    assert commits == [None, None, GROUP] + [None] * (len(VALUES) - 3)


def test_java_joins_when_it_may_and_commits_later(
    cluster: ApacheCluster, java: ScenarioClient, java_errors: ErrorClient
) -> None:
    topic = made_topic(cluster.bootstrap, "group-not-authorized-java")
    send(cluster.bootstrap, topic, VALUES)
    with through("group-not-authorized", cluster.bootstrap) as proxy:
        settings = {**JAVA, **JAVA_FEW, "bootstrap.servers": proxy.bootstrap}
        read = java_errors.consume_on(topic, VALUES[-1], settings)
        (member,) = java.read_together(topic, len(VALUES), settings)
    expect.rules(GROUP_RULES | {"the offsets may not be committed": f"OffsetCommit {GROUP}"})(proxy)
    assert read.problems == ["GroupAuthorizationException"] * 2
    assert read.values == VALUES
    assert member.told.count("GroupAuthorizationException") == 1
    assert [offset for _, offset in member.received] == list(range(len(VALUES)))


heartbeat_refused = expect.rules(
    {
        "the group may not be described": f"FindCoordinator {GROUP}",
        "the group may not be joined": f"ConsumerGroupHeartbeat {GROUP}",
    }
)


def test_a_heartbeat_that_is_not_authorized_ends_a_consumer_of_librdkafka(
    cluster: ApacheCluster,
) -> None:
    topic = made_topic(cluster.bootstrap, "group-not-authorized-848")
    send(cluster.bootstrap, topic, VALUES)
    with through("group-not-authorized", cluster.bootstrap) as proxy:
        own = {"group.protocol": "consumer"}
        first = receive(
            proxy.bootstrap, topic, len(VALUES), own, done=lambda so_far: "_FATAL" in so_far.errors
        )
        second = receive(proxy.bootstrap, topic, len(VALUES), own)
    heartbeat_refused(proxy)
    assert (first.errors[-1], first.values) == ("_FATAL", [])
    assert (second.errors, second.values) == ([], VALUES)


def test_a_heartbeat_that_is_not_authorized_ends_a_java_consumer(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = made_topic(cluster.bootstrap, "group-not-authorized-java-848")
    send(cluster.bootstrap, topic, VALUES)
    with through("group-not-authorized", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap, "group.protocol": "consumer"}
        first = java_errors.consume_on(topic, VALUES[-1], settings, limit=2)
        second = java_errors.consume_on(topic, VALUES[-1], settings)
    heartbeat_refused(proxy)
    assert (first.problems, first.values) == (["GroupAuthorizationException"] * 2, [])
    assert (second.problems, second.values) == ([], VALUES)


transactional_id_refused = expect.rules(
    {
        "the transactional id may not be described": f"FindCoordinator {TRANSACTIONAL_ID}",
        "no producer may use the transactional id": f"InitProducerId {TRANSACTIONAL_ID}",
        "the transaction may not be ended": f"EndTxn {TRANSACTIONAL_ID}",
    }
)


def test_a_transactional_producer_is_made_anew_when_it_may(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "transactional-id-not-authorized")
    with through("transactional-id-not-authorized", cluster.bootstrap) as proxy:
        for value in VALUES[:3]:
            with pytest.raises(KafkaException, match=TRANSACTIONAL_ID) as raised:
                transact(transactional(proxy.bootstrap, topic), topic, [value])
            assert raised.value.args[0].fatal()
        transact(transactional(proxy.bootstrap, topic), topic, [VALUES[3]])
    transactional_id_refused(proxy)
    assert read_log(cluster.bootstrap, topic) == {0: VALUES[2:4]}
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: [VALUES[3]]}


def test_a_transactional_java_producer_is_made_anew_when_it_may(
    cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = made_topic(cluster.bootstrap, "transactional-id-not-authorized-java")
    with through("transactional-id-not-authorized", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap, "transactional.id": topic}

        def commit(value: bytes) -> None:
            java.produce_in_transaction(
                topic, [value], Transaction("commit"), settings=settings, partitions=[0]
            )

        for value in VALUES[:3]:
            with pytest.raises(JavaError, match="TransactionalIdAuthorizationException"):
                commit(value)
        commit(VALUES[3])
    transactional_id_refused(proxy)
    assert read_log(cluster.bootstrap, topic) == {0: VALUES[2:4]}
    assert read_log(cluster.bootstrap, topic, committed=True) == {0: [VALUES[3]]}


idempotence_refused = expect.rules(
    {"no idempotent writes are allowed": f"InitProducerId {CLUSTER}"}
)


def test_librdkafka_stops_for_good_without_the_right_to_idempotence(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "cluster-not-authorized")
    with through("cluster-not-authorized", cluster.bootstrap) as proxy:
        with pytest.raises(KafkaException, match=CLUSTER) as raised:
            send(proxy.bootstrap, topic, VALUES, seconds=10)
        assert raised.value.args[0].fatal()
    idempotence_refused(proxy)
    assert not expect.of_api(proxy, "Produce")
    assert read_log(cluster.bootstrap, topic) == {0: []}


def test_java_asks_for_an_id_again_without_the_right_to_idempotence(
    cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic, values = made_topic(cluster.bootstrap, "cluster-not-authorized-java"), numbers(300)
    with through("cluster-not-authorized", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        produced = java_errors.produce_each(topic, values, settings)
    idempotence_refused(proxy)
    assert [one.error for one in expect.of_api(proxy, "InitProducerId")] == [CLUSTER, ""]
    acknowledged = [
        value for value, problem in zip(values, produced.problems, strict=True) if problem is None
    ]
    # a record that was refused by send may be stored all the same: it was in a batch by then
    (stored,) = read_log(cluster.bootstrap, topic).values()
    assert 0 < len(acknowledged) <= len(stored)
    assert stored == values[-len(stored) :]
    assert acknowledged == values[-len(acknowledged) :]
