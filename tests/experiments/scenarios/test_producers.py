"""Scenarios in which a producer does not get over what happens, or only so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.kafka import (
    PLAIN,
    QUICK,
    Sent,
    fired,
    made_topic,
    numbers,
    read_log,
    send,
    through,
)
from tests.experiments.scenarios.leaders import move_leader, named_an_unreachable_leader
from tests.waiting import SOON

pytestmark = pytest.mark.needs_apache("4.3.1")

OVERTAKEN = "a produce request is overtaken by the next one"
REFUSED = "one of those under way is refused"


@pytest.mark.parametrize(
    ("scenario", "count", "check", "behind", "own"),
    [
        ("out-of-order-sequences", 50, expect.rules({OVERTAKEN: "Produce "}), -1, {}),
        ("pipelined-produce", 120, expect.rules({REFUSED: "Produce NOT_ENOUGH_REPLICAS"}), 30, {}),
        ("produce-timed-out", 30, expect.timed_out, 12, {}),
        ("slow-acknowledgements", 8, expect.acknowledged_late, None, {}),
        ("lossy-network", 160, expect.loses_answers_to_produce, None, {"socket.timeout.ms": 1000}),
    ],
)
def test_without_idempotence_records_are_in_another_order_or_there_twice(
    scenario: str,
    count: int,
    check: expect.Check,
    behind: int | None,
    own: Mapping[str, Any],
    cluster: ApacheCluster,
) -> None:
    """behind: the record that lies behind the next one; -1: any; None: some are stored twice."""
    topic, values = made_topic(cluster.bootstrap, f"{scenario}-plain"), numbers(count)
    with through(scenario, cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values, {**PLAIN, **own})
    check(proxy)
    assert sent.failed == {}
    (stored,) = read_log(cluster.bootstrap, topic).values()
    if behind is None:
        assert {*stored} == {*values}
        assert len(stored) > len(values)
        return
    assert sorted(stored) == sorted(values)
    assert stored != values
    if behind >= 0:
        assert stored.index(values[behind]) > stored.index(values[behind + 1])


def test_librdkafka_stops_for_good_and_what_it_stored_is_in_order(cluster: ApacheCluster) -> None:
    topic, values = made_topic(cluster.bootstrap, "out-of-order-librdkafka"), numbers(200)
    with through("out-of-order-sequences", cluster.bootstrap) as proxy:
        with pytest.raises(KafkaException, match=expect.OUT_OF_ORDER) as told:
            send(proxy.bootstrap, topic, values, seconds=2)
        assert told.value.args[0].fatal()
    assert fired(proxy, OVERTAKEN)
    (stored,) = read_log(cluster.bootstrap, topic).values()
    assert len(stored) > 3
    assert stored == values[: len(stored)]


def most_under_way(proxy: Harness) -> int:
    """How many Produce requests of one connection waited for their answers at a time."""
    produced = expect.of_api(proxy, "Produce")
    spans = [(one.ts, one.ts + int((one.latency_ms or 0) * 1e6)) for one in produced]
    return max(sum(begin <= at < end for begin, end in spans) for at, _ in spans)


@pytest.mark.parametrize(("count", "own"), [(30, PLAIN), (120, {})], ids=["unrefused", "refused"])
def test_librdkafka_keeps_the_order_of_several_under_way(
    count: int, own: Mapping[str, Any], cluster: ApacheCluster
) -> None:
    """The first that is refused is 30: up to there it needs no idempotence."""
    topic, values = made_topic(cluster.bootstrap, f"pipelined-{count}"), numbers(count)
    with through("pipelined-produce", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values, own)
    refused = {one.error for one in fired(proxy, REFUSED)}
    assert refused == ({"NOT_ENOUGH_REPLICAS"} if count > 30 else set())
    assert (expect.OUT_OF_ORDER in expect.errors(proxy, "Produce")) == (count > 30)
    slow = fired(proxy, "answers come slowly")
    assert all((one.latency_ms or 0) >= 150 for one in slow)
    assert len(slow) >= 30
    assert most_under_way(proxy) > 1
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: values}


def not_offered(proxy: Harness) -> None:
    """InitProducerId is not, and nothing was sent."""
    told = fired(proxy, "InitProducerId is not offered")
    assert {one.api for one in told} == {"ApiVersions"}
    assert not expect.of_api(proxy, "Produce", "InitProducerId")


def test_where_idempotence_is_not_offered_librdkafka_says_so(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "no-idempotence")
    with (
        through("idempotence-not-offered", cluster.bootstrap) as proxy,
        pytest.raises(KafkaException) as raised,
    ):
        send(proxy.bootstrap, topic, numbers(20), seconds=10)
    not_offered(proxy)
    error = raised.value.args[0]
    assert (error.fatal(), error.code()) == (True, KafkaError._UNSUPPORTED_FEATURE)


AHEAD = 600_000
"""Milliseconds."""


def test_order_is_that_of_offsets_and_a_search_goes_by_time(cluster: ApacheCluster) -> None:
    topic, values = made_topic(cluster.bootstrap, "skew"), numbers(20)
    with through("clock-skew", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, values)
    assert len(fired(proxy, "a clock that is ahead")) == len(values) / 2
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: values}
    settings = {**QUICK, "bootstrap.servers": cluster.bootstrap, "group.id": "times"}
    consumer = Consumer(settings)
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        times = [one.timestamp()[1] for one in consumer.consume(len(values), timeout=SOON)]
        now = min(times)
        assert [time - now > AHEAD / 2 for time in times] == [True, False] * 10
        later = [TopicPartition(topic, 0, now + AHEAD // 2)]
        (found,) = consumer.offsets_for_times(later, timeout=SOON)
        assert found.offset == 0  # the one after it is older
        at_end = [TopicPartition(topic, 0, max(times))]
        (found,) = consumer.offsets_for_times(at_end, timeout=SOON)
        assert times[found.offset] == max(times)
    finally:
        consumer.close()


def test_librdkafka_produces_to_the_address_where_the_leader_is(cluster: ApacheCluster) -> None:
    topic, values = made_topic(cluster.bootstrap, "unreachable", leader=2), numbers(40)
    sent = Sent()
    with through("unreachable-leader-hint", cluster.bootstrap) as proxy:
        settings = {"bootstrap.servers": proxy.bootstrap, "enable.idempotence": True}
        producer = Producer({**QUICK, **settings})
        for some in (values[:20], values[20:]):
            for value in some:
                producer.produce(topic, value, on_delivery=lambda e, m: sent.told(m.value(), e))
            assert producer.flush(SOON) == 0
            if some == values[:20]:
                move_leader(cluster, topic, 3)
    named_an_unreachable_leader(proxy, "Produce")
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: values}
