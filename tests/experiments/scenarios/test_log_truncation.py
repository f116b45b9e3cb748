"""Consumers of a log that was truncated below their position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster, UnavailableError
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.java_errors import ErrorClient
from tests.experiments.scenarios.kafka import (
    FEW,
    JAVA,
    JAVA_FEW,
    Received,
    at_once,
    fired,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    through,
)
from tests.waiting import until

pytestmark = pytest.mark.needs_apache("4.3.1")

SCENARIO = "log-truncated"
VALUES = numbers(60)
END = 10
"""The reported end of the old epoch."""


@pytest.fixture(scope="module")
def java_errors() -> Iterator[ErrorClient]:
    """A Java client that goes on after exceptions."""
    try:
        with ErrorClient() as running:
            yield running
    except UnavailableError as problem:
        pytest.skip(str(problem))


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
    # a Java client may repeat a Fetch of its session, which names no topic, until it has the epoch
    between = [one.request for one in fetched if told[0].end < one.ts < ended.ts]
    assert not [request for request in between if request and request["topics"]]
    assert "UNKNOWN_LEADER_EPOCH" not in {one.error for one in fetched}


@pytest.mark.parametrize("policy", ["earliest", "error"])
def test_librdkafka_continues_at_the_end_of_the_epoch_or_says_that_it_may_not(
    policy: str, cluster: ApacheCluster
) -> None:
    topic = committed_topic(cluster, f"{SCENARIO}-{policy}")
    own: dict[str, Any] = {"auto.offset.reset": policy, **FEW}

    def done(so_far: Received) -> bool:
        return bool(so_far.errors) or VALUES[-1] in so_far.values

    with through(SCENARIO, cluster.bootstrap) as proxy:
        _, received = at_once(
            lambda: send_to_reader(proxy, cluster, topic),
            lambda: receive(proxy.bootstrap, topic, len(VALUES), own, done=done),
        )
    truncated(proxy)
    if policy == "earliest":
        assert received.errors == []
        assert again_from_the_end(received.values)
    else:
        assert received.errors == ["_AUTO_OFFSET_RESET"]
        assert received.values == VALUES[: len(received.values)]
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}


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
