from __future__ import annotations

import pytest
from confluent_kafka import Consumer, TopicPartition

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.kafka import (
    PLAIN,
    QUICK,
    SOON,
    fired,
    made_topic,
    numbers,
    read_log,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

AHEAD = 600_000
"""Milliseconds."""
VALUES = numbers(20)


def timestamps(consumer: Consumer, topic: str) -> list[int]:
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = consumer.consume(len(VALUES), timeout=SOON)
    return [message.timestamp()[1] for message in found]


def test_order_is_that_of_offsets_and_a_search_goes_by_time(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "skew")
    with through("clock-skew", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES)
    assert len(fired(proxy, "a clock that is ahead")) == len(VALUES) / 2
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}
    settings = {**QUICK, "bootstrap.servers": cluster.bootstrap, "group.id": "times"}
    consumer = Consumer(settings)
    try:
        times = timestamps(consumer, topic)
        now = min(times)
        ahead = [time - now > AHEAD / 2 for time in times]
        assert ahead == [True, False] * 10
        later = [TopicPartition(topic, 0, now + AHEAD // 2)]
        (found,) = consumer.offsets_for_times(later, timeout=SOON)
        assert found.offset == 0  # the one after it is older
        at_end = [TopicPartition(topic, 0, max(times))]
        (found,) = consumer.offsets_for_times(at_end, timeout=SOON)
        assert times[found.offset] == max(times)
    finally:
        consumer.close()


def test_a_clock_too_far_ahead_is_refused(cluster: ApacheCluster) -> None:
    topic = made_topic(
        cluster.bootstrap, "skew-too-far", settings={"message.timestamp.after.max.ms": "60000"}
    )
    with through("clock-skew", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES, PLAIN)
    late = VALUES[::2]
    assert sent.failed == dict.fromkeys(late, "INVALID_TIMESTAMP")
    assert {one.error for one in fired(proxy, "a clock that is ahead")} == {"INVALID_TIMESTAMP"}
    assert len([one for one in proxy.exchanges if one.api == "Produce"]) == len(VALUES)
    assert read_log(cluster.bootstrap, topic) == {0: VALUES[1::2]}
