"""Consumers of a log that was truncated below their position."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.java_errors import ErrorClient
from tests.experiments.scenarios.kafka import (
    FEW,
    JAVA,
    JAVA_FEW,
    QUICK,
    at_once,
    fired,
    made_topic,
    numbers,
    read_log,
    send,
    through,
)
from tests.waiting import SOON, until

pytestmark = pytest.mark.needs_apache("4.3.1")

SCENARIO = "log-truncated"
VALUES = numbers(60)
END = 10
"""The reported end of the old epoch."""


def committed_topic(cluster: ApacheCluster, name: str) -> str:
    """Make a topic, and a group of its name that begins at offset 0 without a reset policy."""
    made_topic(cluster.bootstrap, name)
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": name})
    consumer.commit(offsets=[TopicPartition(name, 0, 0)], asynchronous=False)
    consumer.close()
    return name


def send_to_reader(proxy: Harness, cluster: ApacheCluster, topic: str) -> None:
    """Send one record after the other, so that each is read before the next one comes."""
    until(lambda: expect.of_api(proxy, "Fetch"), "somebody reads")
    send(cluster.bootstrap, topic, VALUES, seconds=2)


def again_from_the_end(values: list[bytes]) -> bool:
    """Return whether these are the first records, and then all from the reported end on.

    A client may discard records that it has received and not delivered.
    """
    delivered = len(values) - len(VALUES[END:])
    return END < delivered < len(VALUES) and values == VALUES[:delivered] + VALUES[END:]


def truncated(proxy: Harness) -> None:
    """Check that the client requested Metadata, then the epoch's end, and no offset of its policy."""
    (refused,) = fired(proxy, "the leader has changed")
    assert (refused.api, refused.error) == ("Fetch", "FENCED_LEADER_EPOCH")
    told = sorted(fired(proxy, "the new leader has a later epoch"), key=lambda one: one.ts)
    assert {one.api for one in told} == {"Metadata"}
    (ended,) = fired(proxy, "the old epoch ended below the consumer's position")
    assert (ended.api, ended.error) == ("OffsetForLeaderEpoch", "")
    assert refused.ts < min(one.ts for one in told) < ended.ts
    assert not [one for one in expect.of_api(proxy, "ListOffsets") if one.ts > refused.ts]
    validated = expect.of_api(proxy, "OffsetForLeaderEpoch")
    assert [one.error for one in validated[:2]] == ["UNKNOWN_LEADER_EPOCH", ""]
    fetched = expect.of_api(proxy, "Fetch")
    assert "UNKNOWN_LEADER_EPOCH" not in {one.error for one in fetched}


@pytest.mark.parametrize("policy", ["earliest", "error"])
def test_librdkafka_continues_at_the_end_of_the_epoch_or_says_that_it_may_not(
    policy: str, cluster: ApacheCluster
) -> None:
    topic = committed_topic(cluster, f"{SCENARIO}-{policy}")
    with through(SCENARIO, cluster.bootstrap) as proxy:
        received = read_one_by_one(proxy, cluster, topic, policy)
    truncated(proxy)
    if policy == "earliest":
        assert received == VALUES[:20] + VALUES[END:]
        assert read_log(cluster.bootstrap, topic) == {0: VALUES}
    else:
        assert received == [*VALUES[:20], "_AUTO_OFFSET_RESET"]
        assert read_log(cluster.bootstrap, topic) == {0: VALUES[:21]}


def read_one_by_one(
    proxy: Harness, cluster: ApacheCluster, topic: str, policy: str
) -> list[bytes | str | None]:
    """Send each record when the one before it has been polled, until the last one or an error is."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 0})
    consumer = reader(proxy, topic, policy)
    received: list[bytes | str | None] = []
    try:
        for value in VALUES:
            producer.produce(topic, value, partition=0)
            assert producer.flush(SOON) == 0
            poll_until(consumer, received, lambda value=value: value in received)  # type: ignore[misc]
            if "_AUTO_OFFSET_RESET" in received:
                break
    finally:
        consumer.close()
    return received


def test_librdkafka_loses_records_that_it_has_fetched_and_nobody_polled(
    cluster: ApacheCluster,
) -> None:
    topic = made_topic(cluster.bootstrap, f"{SCENARIO}-unpolled")
    received: list[bytes | str | None] = []
    with through(SCENARIO, cluster.bootstrap) as proxy:
        consumer = reader(proxy, topic, "earliest")
        try:
            send(cluster.bootstrap, topic, VALUES[:1])
            poll_until(consumer, received, lambda: received)
            send(cluster.bootstrap, topic, VALUES[1:])
            ended = proxy.rules.rule("the old epoch ended below the consumer's position")
            until(lambda: ended.fired, "the consumer learns of the truncation")
            poll_until(consumer, received, lambda: VALUES[-1] in received)
        finally:
            consumer.close()
    truncated(proxy)
    assert received == VALUES[:1] + VALUES[END:]


def reader(proxy: Harness, topic: str, policy: str) -> Consumer:
    """Return a consumer that gets one record a response."""
    own = {"bootstrap.servers": proxy.bootstrap, "group.id": topic, "auto.offset.reset": policy}
    consumer = Consumer({**QUICK, **FEW, **own, "session.timeout.ms": 6000})
    consumer.subscribe([topic])
    return consumer


def poll_until(
    consumer: Consumer, received: list[bytes | str | None], done: Callable[[], object]
) -> None:
    """Poll until a condition holds or an error is reported; note values, and errors by their names."""

    def poll() -> object:
        message = consumer.poll(0.02)
        if message is None:
            return done()
        problem = message.error()
        received.append(message.value() if problem is None else problem.name())
        return problem is not None or done()

    until(poll, "records")


@pytest.mark.parametrize("policy", ["earliest", "none"])
def test_java_continues_at_the_end_of_the_epoch_or_throws(
    policy: str, cluster: ApacheCluster, java_errors: ErrorClient
) -> None:
    topic = committed_topic(cluster, f"{SCENARIO}-java-{policy}")
    with through(SCENARIO, cluster.bootstrap) as proxy:
        settings = {**JAVA, **JAVA_FEW, "auto.offset.reset": policy}
        settings["bootstrap.servers"] = proxy.bootstrap
        _, read = at_once(
            lambda: send_to_reader(proxy, cluster, topic),
            lambda: java_errors.consume_on(topic, VALUES[-1], settings, limit=1),
        )
    truncated(proxy)
    if policy == "earliest":
        assert read.problems == []
        assert again_from_the_end(read.values)
    else:
        assert read.problems == ["LogTruncationException"]
        assert read.values == VALUES[: len(read.values)]
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}
