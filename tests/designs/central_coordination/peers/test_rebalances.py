"""Rebalances as the coordinator makes them: who takes part, who fails, what is retried, what is FATAL."""

from __future__ import annotations

from barnabas.designs.brokers.listener import Log, Send
from barnabas.designs.central_coordination.peers.coordinator import queue_of
from barnabas.designs.central_coordination.peers.offsets import store
from barnabas.designs.central_coordination.peers.wire import read_request
from barnabas.designs.central_coordination.states import STARTING
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


def test_fatal_while_fetchers_start_leaves_those_that_were_started() -> None:
    world = World(brokers=1)
    names = [f"c{number}" for number in range(SETTINGS.rebalance_retries + 3)]
    world.gather(names)
    world.grow("t", "2-0")
    group = world.coordinator.groups["g"]
    for name in reversed(names[2:]):
        world.until(lambda: group.state == STARTING)
        world.run(1)  # start-fetcher arrives, and its answers are under way
        world.applications[name].dead = True
        connection = group.consumers[name].connection
        world._of_broker(1, world.coordinator.closed(connection, world.now))
    assert "FATAL" in [action.level for _, _, action in world.log if isinstance(action, Log)]
    world.run(1_000)
    assert [world.applications[name].fetching for name in names[:2]] == [True, True]
    assert not group.rebalancing


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


def test_wildcards_take_up_new_topics() -> None:
    world = World(topics={"logs-a": ("0-0",), "other": ("0-0",)})
    world.add("a", topic_count="*1*logs-.*")
    world.until(world.settled)
    assert world.applications["a"].owns == {("logs-a", "0-0")}
    world.grow("logs-b", "0-0", "0-1")
    world.until(world.settled)
    assert len(world.applications["a"].owns) == 3
    world.add("b", group_id="black", topic_count="!1!logs-.*")
    world.until(lambda: world.settled("black"))
    assert world.applications["b"].owns == {("other", "0-0")}
