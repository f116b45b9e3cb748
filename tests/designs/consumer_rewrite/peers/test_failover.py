"""The coordinator dies; what the document says of it holds. `rewrite-failover` has all five phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from barnabas.designs.brokers.listener import Send
from barnabas.designs.consumer_rewrite.peers.actions import BrokerAction
from barnabas.designs.consumer_rewrite.peers.election import rank_for
from barnabas.designs.consumer_rewrite.peers.group_entry import decode, path_of
from barnabas.designs.consumer_rewrite.peers.wire import CODES, read_request, read_response
from barnabas.designs.consumer_rewrite.states import READY
from barnabas.designs.consuming.dialer import Transmit
from barnabas.specs.malformed import Malformed
from tests.designs.consumer_rewrite.peers.world import World


def three() -> World:
    """Three consumers, settled in a group of two partitions each."""
    world = World(brokers=2, topics={"t": 6})
    world.gather("abc")
    return world


def generation(world: World) -> int:
    entry = world.registry.read(path_of("g"))
    assert entry is not None
    return decode(entry.data).generation


def joined(action: BrokerAction) -> bool:
    """Whether it is a JoinGroupResponse without an error."""
    if not isinstance(action, Send):
        return False
    try:
        body = read_response(action.data[4:], "JoinGroup")[1]
    except Malformed:
        return False
    return bool(body["consumer_id"])


def told(action: BrokerAction) -> bool:
    """Whether it is a HeartbeatResponse with IllegalGeneration."""
    return (
        isinstance(action, Send)
        and len(action.data) == 10
        and action.data[8:] == CODES["IllegalGeneration"].to_bytes(2)
    )


def dies_before(world: World, matches: Callable[[BrokerAction], bool]) -> Callable[[], bool]:
    """The coordinator dies before the first action that matches; whether it has."""
    node = world.coordinator()
    world.crash_before = lambda broker, action: broker == node and matches(action)
    return lambda: world.brokers[node] is None


def test_2_a_consumer_that_is_back_before_the_failover_is_over_causes_no_rebalance() -> None:
    world = three()
    before = generation(world)
    world.pause("a")
    world.until(dies_before(world, told))  # it would have told the first one of a's death
    assert world.now > 300
    world.resume("a")
    world.crash_before = lambda broker, action: False
    world.until(world.settled)
    world.run(1_000)
    assert world.settled()
    assert generation(world) == before


def test_4_written_and_nobody_knows() -> None:
    world = three()
    dead = dies_before(world, joined)
    world.partition_count("t", 7)
    world.until(dead)
    assert generation(world) == 4
    assert {one.core.generation for one in world.applications.values()} == {3}
    world.crash_before = lambda broker, action: False
    world.until(world.settled)
    assert generation(world) == 5


def test_while_it_loads_heartbeats_are_put_off_and_nobody_stops() -> None:
    world = three()
    world.load_ms = 250
    world.crash(world.coordinator())
    world.run(200)
    broker = world.brokers[world.coordinator()]
    assert broker is not None
    assert broker.state("g") == "CATCH_UP"
    at = len(world.log)
    world.until(lambda: broker.state("g") != "CATCH_UP")
    assert broker.state("g") == READY
    world.run(500)
    assert world.settled()
    apis = [
        read_request(action.data[4:])[1]
        for _, _, action in world.log[at:]
        if isinstance(action, Transmit)
    ]
    assert "Heartbeat" in apis
    assert "JoinGroup" not in apis


@pytest.mark.parametrize("frequency", [2, 3, 10])
def test_the_heartbeat_frequency_bounds_the_latency_of_a_rebalance(frequency: int) -> None:
    world = World(brokers=1)
    world.gather("ab", heartbeat_frequency=frequency)
    world.run(1_000)
    world.partition_count("t", 5)
    took = world.until(lambda: world.settled() and generation(world) == 3)
    assert took <= 300 // frequency + 20


SLOTS = 24


def leaders(nodes: set[int]) -> list[int]:
    return [min(nodes, key=rank_for(slot)) for slot in range(SLOTS)]


@pytest.mark.parametrize("count", range(2, 9))
def test_slots_are_spread_over_brokers(count: int) -> None:
    led = Counter(leaders(set(range(1, count + 1))))
    assert len(led) == count
    assert max(led.values()) <= 3 * min(led.values())


def test_only_the_slots_of_who_goes_have_another_leader() -> None:
    before, after = leaders({1, 2, 3, 4}), leaders({1, 2, 4})
    moved = [slot for slot in range(SLOTS) if before[slot] != after[slot]]
    assert moved == [slot for slot in range(SLOTS) if before[slot] == 3]
