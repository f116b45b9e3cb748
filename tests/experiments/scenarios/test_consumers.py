"""Scenarios in which a consumer is told what it can't get over, or reads what is new."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, TopicPartition

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.embedded import EmbeddedCluster
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.java_client import ScenarioClient
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
    spread,
    through,
)
from tests.waiting import until

apache = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(60)


@pytest.mark.slow("a client reads for seconds")
@pytest.mark.parametrize("scenario", ["half-the-fetches-stall", "slow-fetches"])
def test_all_is_read_in_order_and_nobody_rebalances(scenario: str) -> None:
    values = numbers(12 if scenario == "half-the-fetches-stall" else 30)
    timings = {"session.timeout.ms": 1500, "heartbeat.interval.ms": 300}
    with EmbeddedCluster(1, topics={scenario: 2}) as cluster:
        send(cluster.bootstrap, scenario, values, partitions=2)
        with through(scenario, cluster.bootstrap) as proxy:
            # one record a response, until two of them have stalled
            few = {"fetch.message.max.bytes": 1000, "fetch.wait.max.ms": 50}

            def done(so_far: Received) -> bool:
                beats = len(expect.of_api(proxy, "Heartbeat"))
                return len(so_far.values) >= len(values) and (beats > 4 or "slow" in scenario)

            own = timings if "slow" in scenario else few | timings
            received = receive(proxy.bootstrap, scenario, len(values), own, done=done)
    assert received.errors == []
    for some in spread(values, 2).values():
        assert [value for value in received.values if value in {*some}] == some
    assert {(one.error, one.rules) for one in expect.of_api(proxy, "Heartbeat")} == {("", ())}
    assert {row.api: row.count for row in proxy.tally.rows()}["SyncGroup"] == 1
    if scenario == "slow-fetches":
        slow = fired(proxy, "slow fetches")
        assert {one.api for one in slow} == {"Fetch"}
        assert len(slow) > 5
        assert all((one.latency_ms or 150) - (one.broker_ms or 0) >= 150 for one in slow)
    else:
        fetched, stalled = expect.of_api(proxy, "Fetch"), fired(proxy, "every second fetch stalls")
        assert len(stalled) >= 2
        assert all((one.latency_ms or 1000) >= 1000 for one in stalled)
        assert len(stalled) in (len(fetched) // 2, len(fetched) // 2 + 1)


@apache
def test_java_writes_to_a_topic_that_was_made_again_and_reads_it(
    cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = made_topic(cluster.bootstrap, "topic-recreated-paced")
    with through("topic-recreated", cluster.bootstrap) as proxy:
        settings = {**JAVA, **JAVA_FEW, "bootstrap.servers": proxy.bootstrap}
        java.pace(topic, 60, size=1, rate=60, settings=settings)
        received, _ = at_once(
            lambda: java.consume(topic, 121, group=topic, settings=settings),
            lambda: send(cluster.bootstrap, topic, VALUES, seconds=1.5),
        )
    expect.refused_its_topic_id(proxy, "Produce")
    expect.refused_its_topic_id(proxy, "Fetch")
    assert read_log(cluster.bootstrap, topic) == {0: [b"x"] * 61 + VALUES}
    assert [one.offset for one in received] == list(range(121))


@apache
def test_java_keeps_the_brokers_that_it_knows(cluster: ApacheCluster, java: ScenarioClient) -> None:
    topic = made_topic(cluster.bootstrap, "no-brokers")
    with through("no-brokers-in-metadata", cluster.bootstrap) as proxy:
        often = {**JAVA, "metadata.max.age.ms": "100"}
        settings = {**often, "bootstrap.servers": proxy.bootstrap}
        java.produce(topic, VALUES, settings=settings)
        received, _ = at_once(
            lambda: java.consume(topic, 2 * len(VALUES), group=topic, settings=settings),
            lambda: send(cluster.bootstrap, topic, VALUES, seconds=1),
        )
    told = fired(proxy, "a broker that knows nobody")
    assert {one.api for one in told} == {"Metadata"}
    for one in told:
        assert one.response is not None
        assert one.response["brokers"] == []
    fetched = min(one.ts for one in expect.of_api(proxy, "Fetch"))
    assert [one for one in told if one.ts > fetched]
    assert len([one for one in expect.of_api(proxy, "JoinGroup") if not one.error]) == 1
    assert [one.value for one in received] == VALUES * 2
    assert read_log(cluster.bootstrap, topic) == {0: VALUES * 2}


def out_of_range(proxy: Harness) -> None:
    (refused,) = fired(proxy, "the offset is not there any more")
    assert (refused.api, refused.error) == ("Fetch", "OFFSET_OUT_OF_RANGE")


def twice_up_to_some_record(values: list[bytes]) -> bool:
    """Whether these are the beginning, and then everything."""
    again = len(values) - len(VALUES)
    return 0 < again < len(VALUES) and values == VALUES[:again] + VALUES


@apache
@pytest.mark.parametrize("policy", ["earliest", "error"])
def test_librdkafka_reads_again_from_the_beginning_or_says_that_it_may_not(
    policy: str, cluster: ApacheCluster
) -> None:
    topic = made_topic(cluster.bootstrap, f"out-of-range-{policy}")
    group = {"group.id": topic, "auto.offset.reset": policy}
    committing = Consumer({"bootstrap.servers": cluster.bootstrap, **group})
    committing.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
    committing.close()
    with through("offset-out-of-range", cluster.bootstrap) as proxy:

        def send_to_reader() -> None:
            """One record after the other, so that each is read before the next one comes."""
            until(lambda: expect.of_api(proxy, "Fetch"), "somebody reads")
            send(cluster.bootstrap, topic, VALUES, seconds=1)

        def done(so_far: Received) -> bool:
            return bool(so_far.errors) or VALUES[-1] in so_far.values

        _, received = at_once(
            send_to_reader,
            lambda: receive(proxy.bootstrap, topic, len(VALUES), group | FEW, done=done),
        )
    out_of_range(proxy)
    if policy == "earliest":
        assert received.errors == []
        assert twice_up_to_some_record(received.values)
    else:
        assert received.errors == ["_AUTO_OFFSET_RESET"]
        assert received.values == VALUES[: len(received.values)]


@apache
def test_a_partition_that_is_added_is_read(cluster: ApacheCluster) -> None:
    topic, values = made_topic(cluster.bootstrap, "added", 3), numbers(120)
    with through("partitions-added", cluster.bootstrap) as proxy:

        def send_to_reader() -> None:
            until(lambda: expect.of_api(proxy, "Fetch"), "somebody reads")
            send(cluster.bootstrap, topic, values, partitions=3, seconds=2)

        often = {"topic.metadata.refresh.interval.ms": 100}
        _, received = at_once(
            send_to_reader, lambda: receive(proxy.bootstrap, topic, len(values), often)
        )
    hidden = fired(proxy, "the last partition is not there yet")
    assert {one.api for one in hidden} == {"Metadata"}
    for one in hidden:
        assert one.response is not None
        assert [len(topic["partitions"]) for topic in one.response["topics"]] == [2]
    # a group of one, which needs no second request to join, joined again
    first, *more = [one for one in expect.of_api(proxy, "JoinGroup") if not one.error]
    assert more, first
    assert more[-1].ts > max(one.ts for one in hidden)
    assert received.errors == []
    assert {*received.values} == {*values}
