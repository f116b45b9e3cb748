"""Coordinators refuse members that join, static members, commits, and questions for unstable offsets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from confluent_kafka import Consumer, KafkaException

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaError
from tests.experiments.scenarios.expectations import of_api
from tests.experiments.scenarios.groups import CLASSIC, CONSUMER, configure_group
from tests.experiments.scenarios.java_client import ScenarioClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    QUICK,
    fired,
    made_topic,
    numbers,
    receive,
    send,
    through,
)
from tests.experiments.scenarios.shares import COUNT, read, shared_topic
from tests.waiting import SOON, until

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES: Final = numbers(10)
STATIC: Final = {"group.instance.id": "static"}
JOIN_ERRORS: Final = (
    "INVALID_SESSION_TIMEOUT",
    "INCONSISTENT_GROUP_PROTOCOL",
    "GROUP_MAX_SIZE_REACHED",
)


def stored(cluster: ApacheCluster, name: str) -> str:
    """Make a topic with VALUES, whose group has short sessions."""
    topic = made_topic(cluster.bootstrap, name)
    configure_group(cluster.bootstrap, topic, {"consumer.session.timeout.ms": "1000"})
    send(cluster.bootstrap, topic, VALUES)
    return topic


def refusals(proxy: Harness) -> list[tuple[str | None, str | None]]:
    """Return API and error of the exchanges on which rules fired, in the order of the requests."""
    refused = [one for one in proxy.exchanges if one.rules]
    return [(one.api, one.error) for one in sorted(refused, key=lambda one: one.ts)]


class Committer:
    """A consumer of confluent-kafka that commits after each record."""

    def __init__(self, bootstrap: str, topic: str, settings: Mapping[str, Any]) -> None:
        own = {"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest"}
        self._consumer = Consumer({**QUICK, **own, "enable.auto.commit": False, **settings})
        self._consumer.subscribe([topic])
        self.values: list[bytes | None] = []
        self.errors: list[str] = []
        """Names of the errors of the consumer and of its commits."""

    def work(self, done: Callable[[Committer], bool]) -> Committer:
        """Read and commit until `done`, and close the consumer."""
        deadline = SOON / 0.1
        try:
            while not done(self) and deadline:
                deadline -= 1
                message = self._consumer.poll(0.1)
                if message is not None:
                    self._receive(message)
        finally:
            self._consumer.close()
        return self

    def _receive(self, message: Any) -> None:
        if message.error() is not None:
            self.errors.append(message.error().name())
            return
        self.values.append(message.value())
        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException as problem:
            self.errors.append(problem.args[0].name())


def java_errors(
    java: ScenarioClient, topic: str, settings: Mapping[str, str], *counts: int
) -> list[str]:
    """Return the exceptions of consumers that begin one after the other, "" for none.

    counts: how many records each of them reads at least, or waits for.
    """
    errors = []
    for count in counts:
        try:
            received = java.consume(topic, count, group=topic, settings=settings)
        except JavaError as problem:
            errors.append(str(problem).partition(":")[0].rpartition(".")[2])
        else:
            assert len(received) >= count
            errors.append("")
    return errors


def test_librdkafka_reports_refused_joins_and_joins_again(cluster: ApacheCluster) -> None:
    topic = stored(cluster, "refused-classic")
    with through("join-refused", cluster.bootstrap) as proxy:
        received = receive(proxy.bootstrap, topic, len(VALUES))
    assert received.values == VALUES
    assert received.errors == list(JOIN_ERRORS)
    assert refusals(proxy) == [("JoinGroup", error) for error in JOIN_ERRORS]


def test_librdkafka_reports_a_fatal_error_for_refused_joins_of_a_consumer_group(
    cluster: ApacheCluster,
) -> None:
    topic = stored(cluster, "refused-consumer")
    with through("join-refused", cluster.bootstrap) as proxy:
        for _ in range(2):
            refused = receive(proxy.bootstrap, topic, 1, CONSUMER, done=lambda r: bool(r.errors))
            assert (refused.values, refused.errors) == ([], ["_FATAL"])
        received = receive(proxy.bootstrap, topic, len(VALUES), CONSUMER)
    assert (received.values, received.errors) == (VALUES, [])
    errors = ("UNSUPPORTED_ASSIGNOR", "GROUP_MAX_SIZE_REACHED")
    assert refusals(proxy) == [("ConsumerGroupHeartbeat", error) for error in errors]


def test_librdkafka_reports_a_fatal_error_where_a_share_group_is_full(
    cluster: ApacheCluster,
) -> None:
    topic = shared_topic(cluster.bootstrap, "refused-share")
    with through("join-refused", cluster.bootstrap) as proxy:
        with pytest.raises(KafkaException, match="GROUP_MAX_SIZE_REACHED") as raised:
            read(proxy.bootstrap, topic, commit=False)
        assert raised.value.args[0].fatal()
        assert read(proxy.bootstrap, topic, commit=False).offsets == list(range(COUNT))
    assert refusals(proxy) == [("ShareGroupHeartbeat", "GROUP_MAX_SIZE_REACHED")]


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        (
            "classic",
            [
                "InvalidSessionTimeoutException",
                "InconsistentGroupProtocolException",
                "GroupMaxSizeReachedException",
                "",
            ],
        ),
        ("consumer", ["UnsupportedAssignorException", "GroupMaxSizeReachedException", ""]),
    ],
)
def test_java_reports_refused_joins(
    protocol: str, expected: list[str], cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = stored(cluster, f"refused-java-{protocol}")
    with through("join-refused", cluster.bootstrap) as proxy:
        own = {"bootstrap.servers": proxy.bootstrap, "group.protocol": protocol}
        counts = [len(VALUES)] * len(expected)
        assert java_errors(java, topic, {**JAVA, **own}, *counts) == expected
    assert len(refusals(proxy)) == len(expected) - 1


def test_a_fenced_static_member_of_librdkafka_ends_and_the_next_one_reads_on(
    cluster: ApacheCluster,
) -> None:
    topic = stored(cluster, "static-fenced")
    # all is committed before the second heartbeat
    settings = {**CLASSIC, **STATIC, "heartbeat.interval.ms": 1000}
    with through("static-member-fenced", cluster.bootstrap) as proxy:
        first = Committer(proxy.bootstrap, topic, settings).work(lambda one: bool(one.errors))
        send(cluster.bootstrap, topic, numbers(10, 10))
        second = Committer(proxy.bootstrap, topic, settings).work(lambda one: bool(one.errors))
        third = Committer(proxy.bootstrap, topic, settings).work(lambda one: len(one.values) == 10)
    assert (first.values, first.errors) == (VALUES, ["_FATAL"])
    assert (second.values, second.errors) == (numbers(1, 10), ["FENCED_INSTANCE_ID"])
    assert (third.values, third.errors) == (numbers(10, 10), [])
    assert refusals(proxy) == [(api, "FENCED_INSTANCE_ID") for api in ("Heartbeat", "OffsetCommit")]


def test_java_reports_that_a_static_member_is_fenced(
    cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = stored(cluster, "static-fenced-java")
    with through("static-member-fenced", cluster.bootstrap) as proxy:
        own = {"bootstrap.servers": proxy.bootstrap, "heartbeat.interval.ms": "200", **STATIC}
        # the first one waits for a record that is not there
        counts = len(VALUES) + 1, len(VALUES), len(VALUES)
        errors = java_errors(java, topic, {**JAVA, **own}, *counts)
    assert errors == ["FencedInstanceIdException", "FencedInstanceIdException", ""]
    assert refusals(proxy) == [(api, "FENCED_INSTANCE_ID") for api in ("Heartbeat", "OffsetCommit")]


def test_java_reports_that_a_static_member_of_a_consumer_group_is_fenced(
    cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = stored(cluster, "static-fenced-java-consumer")
    with through("static-member-fenced", cluster.bootstrap) as proxy:
        own = {"bootstrap.servers": proxy.bootstrap, "group.protocol": "consumer", **STATIC}
        settings = {**JAVA, **own}
        errors = java_errors(java, topic, settings, len(VALUES) + 1)
        send(cluster.bootstrap, topic, VALUES)
        # the broker has not fenced it, and keeps it until its session ends
        until(lambda: java_errors(java, topic, settings, len(VALUES)) == [""], "another member")
    assert errors == ["FencedInstanceIdException"]
    assert refusals(proxy) == [("ConsumerGroupHeartbeat", "FENCED_INSTANCE_ID")]


COMMIT_ERRORS: Final = ["OFFSET_METADATA_TOO_LARGE", "INVALID_COMMIT_OFFSET_SIZE"]


@pytest.mark.parametrize("settings", [CLASSIC, CONSUMER], ids=["classic", "consumer"])
def test_librdkafka_reports_a_refused_commit_and_reads_on(
    settings: dict[str, Any], cluster: ApacheCluster, request: pytest.FixtureRequest
) -> None:
    topic = stored(cluster, f"commit-refused-{request.node.callspec.id}")
    with through("commit-refused", cluster.bootstrap) as proxy:
        first = Committer(proxy.bootstrap, topic, settings).work(lambda one: len(one.values) == 10)
        send(cluster.bootstrap, topic, numbers(10, 10))
        second = Committer(proxy.bootstrap, topic, settings).work(lambda one: len(one.values) == 10)
    assert (first.values, first.errors) == (VALUES, COMMIT_ERRORS)
    assert (second.values, second.errors) == (numbers(10, 10), [])
    assert refusals(proxy) == [("OffsetCommit", error) for error in COMMIT_ERRORS]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_java_reports_a_refused_commit_and_reads_on(
    protocol: str, cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = stored(cluster, f"commit-refused-java-{protocol}")
    own = {"group.protocol": protocol, "enable.auto.commit": "false", "max.poll.records": "1"}
    with through("commit-refused", cluster.bootstrap) as proxy:
        settings = {**JAVA, **own, "bootstrap.servers": proxy.bootstrap}
        [member] = java.read_together(topic, len(VALUES), settings)
    assert [offset for _, offset in member.received] == list(range(len(VALUES)))
    assert [what for what in member.told if not what.endswith(" 0")] == [
        "OffsetMetadataTooLarge",
        "InvalidCommitOffsetSizeException",
    ]
    assert refusals(proxy) == [("OffsetCommit", error) for error in COMMIT_ERRORS]
    commits = of_api(proxy, "OffsetCommit")
    assert commits[-1].error == ""
    assert len({str(commit.request) for commit in commits}) == len(commits)


def committed_first(cluster: ApacheCluster, name: str) -> str:
    """Make a topic whose group has committed VALUES, and ten values after them."""
    topic = stored(cluster, name)
    Committer(cluster.bootstrap, topic, CLASSIC).work(lambda one: len(one.values) == len(VALUES))
    send(cluster.bootstrap, topic, numbers(10, 10))
    return topic


def asked_until_stable(proxy: Harness) -> None:
    """Check that nothing was fetched before the offsets were stable."""
    unstable = fired(proxy, "a transaction with the offsets is open")
    assert [one.error for one in unstable] == ["UNSTABLE_OFFSET_COMMIT"] * 3
    stable = next(one for one in of_api(proxy, "OffsetFetch") if not one.rules)
    assert stable.ts > unstable[-1].ts
    assert min(one.ts for one in of_api(proxy, "Fetch")) > stable.ts
    assert of_api(proxy, "ListOffsets") == []


@pytest.mark.parametrize("settings", [CLASSIC, CONSUMER], ids=["classic", "consumer"])
def test_librdkafka_waits_for_stable_offsets(
    settings: dict[str, Any], cluster: ApacheCluster, request: pytest.FixtureRequest
) -> None:
    topic = committed_first(cluster, f"unstable-{request.node.callspec.id}")
    with through("offsets-unstable", cluster.bootstrap) as proxy:
        received = receive(proxy.bootstrap, topic, 10, settings)
    assert (received.values, received.errors) == (numbers(10, 10), [])
    asked_until_stable(proxy)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_java_waits_for_stable_offsets(
    protocol: str, cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = committed_first(cluster, f"unstable-java-{protocol}")
    with through("offsets-unstable", cluster.bootstrap) as proxy:
        own = {"bootstrap.servers": proxy.bootstrap, "group.protocol": protocol}
        received = java.consume(topic, 10, group=topic, settings={**JAVA, **own})
    assert [record.value for record in received] == numbers(10, 10)
    asked_until_stable(proxy)
