"""What a consumer does: wildcards, ids, refusals, lost coordinators."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.consumer_rewrite.peers.consumer import Consumer
from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from barnabas.designs.consumer_rewrite.peers.wire import CODES, read_request, response
from barnabas.designs.consumer_rewrite.states import (
    DISCOVER,
    DOWN,
    REDISCOVER,
)
from barnabas.designs.consuming.dialer import Connect, Disconnect, Transmit
from tests.designs.consumer_rewrite.peers.world import World


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


def test_a_blacklist_takes_all_topics_but_those() -> None:
    world = World(topics={"logs-a": 2, "logs-b": 1, "other": 1})
    one = world.add("a", topics=(), blacklist="logs-.*")
    two = world.add("b", topics=(), pattern="logs-.*", blacklist=".*-a", group_id="h")
    world.until(lambda: one.partitions == {("other", 0)} and two.partitions == {("logs-b", 0)})


def test_subscribing_to_other_topics_is_a_rebalance_with_the_next_poll() -> None:
    world = World(topics={"t": 1, "u": 1})
    one = world.add("a")
    world.until(world.settled)
    world.pause("a")
    one.core.subscribe(("t", "u"))
    generation = one.core.generation
    world.run(50)
    assert one.core.generation == generation
    world.resume("a")
    world.until(lambda: one.partitions == {("t", 0), ("u", 0)})
    assert one.core.generation == generation + 1


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


class Coordinator:
    """Who answers a consumer by hand; at first it is in the group and has begun to consume t-0."""

    def __init__(self, **options: Any) -> None:
        self.core = Consumer(ConsumerSettings("g", (("h", 1),), topics=("t",), **options))
        self.now = 0
        self.asked: list[tuple[int, str, dict[str, Any]]] = []
        self.core.start(0)
        self.reach()

    def reach(self) -> None:
        """It connects, finds its coordinator, and joins if it wants to."""
        self.take(self.core.poll(self.now))
        self.take(self.core.connected(self.now))
        self.answer("ConsumerMetadata", error_code=0, node_id=1, host="h", port=1)
        if self.waits("JoinGroup"):
            owns = [{"topic": "t", "partitions": [0]}]
            given = {"group_generation_id": 1, "consumer_id": "g-0", "assigned_partitions": owns}
            self.answer("JoinGroup", error_code=0, **given)
            row = {"partition_index": 0, "committed_offset": -1, "metadata": "", "error_code": 0}
            self.answer("OffsetFetch", topics=[{"name": "t", "partitions": [row]}])

    def take(self, actions: list[Any]) -> None:
        self.asked += [read_request(a.data[4:]) for a in actions if isinstance(a, Transmit)]

    def waits(self, api: str) -> bool:
        return bool(self.asked) and self.asked[0][1] == api

    def answer(self, api: str, **body: Any) -> None:
        number, asked, _ = self.asked.pop(0)
        assert asked == api
        self.take(self.core.receive(response(api, number, body), self.now))

    def pass_time(self, ms: int) -> None:
        self.now += ms
        self.take(self.core.poll(self.now))

    def commit(self, offset: int) -> None:
        """The application has reached this offset, and commits."""
        self.core.positions["t", 0] = offset
        self.take(self.core.commit(self.now))

    def committed(self, error: str = "NONE") -> None:
        row = {"partition": 0, "error_code": CODES[error]}
        self.answer("OffsetCommit", responses=[{"topic": "t", "partition_responses": [row]}])

    @property
    def offsets(self) -> list[int]:
        """Of the OffsetCommits that wait for their answer."""
        return [
            body["topics"][0]["partitions"][0]["offset"]
            for _, api, body in self.asked
            if api == "OffsetCommit"
        ]


def test_a_commit_that_a_coordinator_puts_off_is_asked_again_after_the_backoff() -> None:
    by_hand = Coordinator()
    by_hand.commit(5)
    by_hand.commit(5)
    assert by_hand.offsets == [5]  # it is under way
    by_hand.committed("CoordinatorStartupNotComplete")
    by_hand.pass_time(99)
    assert by_hand.offsets == []
    assert by_hand.core.wake == 100
    by_hand.pass_time(1)
    assert by_hand.offsets == [5]
    by_hand.committed()
    by_hand.commit(5)
    assert by_hand.offsets == []


def test_a_commit_without_an_answer_goes_to_the_next_coordinator() -> None:
    by_hand = Coordinator()
    by_hand.commit(5)
    by_hand.core.lost(by_hand.now)
    assert by_hand.core.state == REDISCOVER
    by_hand.asked.clear()
    by_hand.now += 100
    by_hand.reach()
    assert by_hand.offsets == [5]
    by_hand.committed("NotCoordinatorForGroup")
    assert by_hand.core.state == REDISCOVER
    by_hand.asked.clear()
    by_hand.now += 100
    by_hand.reach()
    assert by_hand.offsets == [5]


def test_while_its_join_waits_it_sends_no_heartbeat_and_when_that_is_late_it_joins_anew() -> None:
    by_hand = Coordinator(join_timeout_ms=50_000)
    by_hand.pass_time(2_000)
    by_hand.answer("Heartbeat", error_code=CODES["IllegalGeneration"])
    assert [(api, body["consumer_id"]) for _, api, body in by_hand.asked] == [("JoinGroup", "g-0")]
    by_hand.pass_time(49_999)
    assert len(by_hand.asked) == 1
    assert by_hand.core.wake == 52_000
    by_hand.pass_time(1)
    assert by_hand.core.state == DISCOVER
    by_hand.asked.clear()
    by_hand.now += 100
    by_hand.take(by_hand.core.poll(by_hand.now))
    by_hand.take(by_hand.core.connected(by_hand.now))
    by_hand.answer("ConsumerMetadata", error_code=0, node_id=1, host="h", port=1)
    assert [(api, body["consumer_id"]) for _, api, body in by_hand.asked] == [("JoinGroup", "g-0")]
