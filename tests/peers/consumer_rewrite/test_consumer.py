"""What a consumer does: wildcards, ids, refusals, lost coordinators."""

from __future__ import annotations

import pytest

from peers.consumer_rewrite.actions import Fail
from peers.consumer_rewrite.consumer import Consumer
from peers.consumer_rewrite.settings import ConsumerSettings
from peers.consumer_rewrite.wire import read_request, response
from peers.dialer import Connect, Disconnect, Transmit
from specs.drafts.rewrite_states import (
    DISCOVER,
    DOWN,
    PART_OF_GROUP,
    REDISCOVER,
    REWRITE_CONSUMER,
)
from tests.peers.consumer_rewrite.world import World


def test_a_wildcard_follows_the_topics_there_are() -> None:
    world = World(topics={"logs-a": 2, "other": 1})
    one = world.add("a", topics=(), pattern="logs-.*")
    world.until(world.settled)
    assert one.partitions == {("logs-a", 0), ("logs-a", 1)}
    world.partition_count("logs-b", 1)
    world.run(1_500)
    assert world.settled()
    assert ("logs-b", 0) in one.partitions
    assert one.core.topics == {"logs-a", "logs-b"}


def test_topics_that_are_made_later_are_taken_up() -> None:
    world = World(topics={})
    one = world.add("a", topics=("t",))
    world.run(500)
    assert one.core.state == PART_OF_GROUP
    world.partition_count("t", 1)
    world.until(lambda: one.partitions == {("t", 0)})


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"session_timeout_ms": 30_001}, "SessionTimeoutTooHigh"),
        ({"strategy": "best"}, "UnknownPartitioningStrategy"),
        ({"strategy": "roundrobin"}, "InconsistentPartitioningStrategy"),
    ],
)
def test_who_is_unable_to_join_is_down(options: dict[str, object], error: str) -> None:
    world = World()
    world.add("a")
    world.until(world.settled)
    refused = world.add("b", **options)
    world.run(500)
    assert (refused.core.state, refused.core.failure) == (DOWN, error)
    refused.dead = True
    assert world.settled()


def test_a_slow_consumer_comes_back_with_a_new_id() -> None:
    world = World()
    for name in "ab":
        world.add(name)
        world.until(world.settled)
    world.pause("b")
    world.run(900)
    assert world.settled()  # without it
    world.resume("b")
    world.until(world.settled)
    assert world.applications["b"].core.consumer_id == "g-0002"


def test_what_was_consumed_is_committed_before_the_next_join() -> None:
    world = World()
    one = world.add("a", session_timeout_ms=300)
    one.commits = False
    world.until(world.settled)
    world.run(1_000)
    reached = dict(one.core.positions)
    assert min(reached.values()) > 0
    world.add("b")
    world.until(world.settled)
    for each in world.applications.values():
        for at in each.partitions:
            assert each.core.positions[at] >= reached[at]


def test_no_broker_at_all() -> None:
    core = Consumer(ConsumerSettings("g", (("h", 1), ("i", 2)), topics=("t",)))
    assert core.start(0) == [Connect(("h", 1))]
    assert core.lost(1) == []
    assert core.wake == 101
    assert core.poll(101) == [Connect(("i", 2))]
    assert core.wake == 3_101
    assert core.poll(3_101) == [Disconnect()]
    assert core.poll(3_201) == [Connect(("h", 1))]


def test_an_answer_that_does_not_come_in_a_session_means_a_dead_coordinator() -> None:
    world = World()
    one = world.add("a")
    world.until(world.settled)
    assert one.link is not None
    one.link.lossy = True
    held = one.partitions
    began = world.now
    world.until(lambda: one.core.state == REDISCOVER)
    assert 290 <= world.now - began <= 400  # of the last heartbeat, which may be under way
    assert one.partitions == held  # it goes on consuming


def test_a_response_that_nobody_asked_for_ends_the_connection() -> None:
    core = Consumer(ConsumerSettings("g", (("h", 1),), topics=("t",)))
    core.start(0)
    (asked,) = core.connected(0)
    assert isinstance(asked, Transmit)
    number, api, _ = read_request(asked.data[4:])
    body = {"error_code": 0, "node_id": 1, "host": "h", "port": 1}
    (disconnect,) = core.receive(response(api, number + 1, body), 0)
    assert disconnect == Disconnect()
    assert core.state == DISCOVER


def test_leaving_lets_the_others_have_its_partitions_at_once() -> None:
    world = World()
    for name in "ab":
        world.add(name)
        world.until(world.settled)
    world.leave("a")
    assert world.applications["a"].core.state == DOWN
    assert world.until(world.settled) <= 120


def test_settings_that_can_not_be() -> None:
    with pytest.raises(ValueError, match="pattern"):
        ConsumerSettings("g", (("h", 1),), pattern="(")
    with pytest.raises(ValueError, match="heartbeats"):
        ConsumerSettings("g", (("h", 1),), heartbeat_frequency=0)
    with pytest.raises(ValueError, match="no broker"):
        ConsumerSettings("g", ())


def test_each_step_of_a_long_life_is_in_the_table() -> None:
    world = World()
    failed = world.add("x", strategy="best")
    world.run(50)
    assert any(isinstance(action, Fail) for _, who, action in world.log if who == "x")
    failed.dead = True
    assert REWRITE_CONSUMER.step(DOWN, "start", "NONE") == DISCOVER
