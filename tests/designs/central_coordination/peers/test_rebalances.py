"""Rebalances as the coordinator makes them: who takes part, who fails, what is retried, what is FATAL."""

from __future__ import annotations

from barnabas.designs.brokers.listener import Log, Send
from barnabas.designs.central_coordination.peers.coordinator import queue_of
from barnabas.designs.central_coordination.peers.offsets import store
from barnabas.designs.central_coordination.peers.wire import read_request
from barnabas.specs.malformed import Malformed
from tests.designs.central_coordination.peers.world import SETTINGS, World


def sent(world: World, since: int = 0) -> list[str]:
    """The APIs that coordinators asked, in order."""
    found = []
    for at, _, action in world.log:
        if at >= since and isinstance(action, Send):
            try:
                api, _ = read_request(action.data[4:])
            except Malformed:
                continue
            found.append(api)
    return found


def test_without_auto_commit_the_registry_says_where() -> None:
    world = World()
    world.add("a", auto_commit=False)
    world.until(world.settled)
    for at in world.applications["a"].owns:
        world.applications["a"].core.positions[at] = 42
    store(world.registry, "g", {("t", "0-0"): 7})
    world.add("b", auto_commit=False)
    world.until(world.settled)
    positions = world.applications["a"].core.positions | world.applications["b"].core.positions
    assert positions[("t", "0-0")] == 7
    assert set(positions.values()) == {0, 7}


def test_after_too_many_retries_it_is_fatal_and_stands_still_until_something_changes() -> None:
    world = World(brokers=1)
    names = [f"c{number}" for number in range(8)]
    world.gather(names)
    world.grow("t", "2-0")

    def fail_one() -> bool:
        group = world.coordinator.groups["g"]
        if not group.active:
            return True
        name = sorted(group.consumers)[-1]
        world.applications[name].dead = True
        world._of_broker(1, world.coordinator.closed(group.consumers[name].connection, world.now))
        return False

    for _ in range(SETTINGS.rebalance_retries + 1):
        world.run(1)
        world.until(lambda: world.coordinator.groups["g"].active)
        fail_one()
    fatal = [
        action for _, _, action in world.log if isinstance(action, Log) and action.level == "FATAL"
    ]
    assert len(fatal) == 1
    group = world.coordinator.groups["g"]
    assert not group.rebalancing
    at = world.now
    world.run(1_000)
    assert set(sent(world, at)) == {"Ping", "StopFetcher"} or set(sent(world, at)) == {"Ping"}
    assert not group.rebalancing
    world.add("late")
    world.until(world.settled)


def test_many_that_fail_at_once_are_one_retry() -> None:
    world = World(brokers=1)
    names = [f"c{number}" for number in range(SETTINGS.rebalance_retries + 4)]
    world.gather(names)
    for name in names[:-2]:
        one = world.applications[name]
        assert one.link is not None
        one.link.lossy = one.dead = True
    world.grow("t", "2-0")
    world.until(world.settled)
    told = [action.level for _, _, action in world.log if isinstance(action, Log)]
    assert "FATAL" not in told
    assert set(world.coordinator.groups["g"].consumers) == set(names[-2:])


def test_groups_of_one_queue_are_rebalanced_one_after_the_other() -> None:
    names = [name for name in "ghijklmnop" if queue_of(name, 2) == queue_of("g", 2)][:2]
    other = next(name for name in "ghijklmnop" if queue_of(name, 2) != queue_of("g", 2))
    world = World(brokers=1)
    for name in (*names, other):
        world.add(f"consumer of {name}", group_id=name)
        world.until(lambda name=name: world.settled(name))  # type: ignore[misc]
    world.run(10)
    held = world.applications[f"consumer of {names[0]}"]
    held.polls = False  # it does not answer stop-fetcher
    world.grow("t", "9-9")
    world.run(10)
    groups = world.coordinator.groups
    assert groups[names[0]].active
    assert groups[names[1]].rebalancing
    assert not groups[names[1]].active
    assert world.settled(other)
    held.polls = True
    world.resume(f"consumer of {names[0]}")
    world.until(lambda: world.settled(names[0]) and world.settled(names[1]))
