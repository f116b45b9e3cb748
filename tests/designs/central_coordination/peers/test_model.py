"""Whatever is lost, delayed or dies: no start-fetcher gives a partition twice, and the group recovers."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from barnabas.designs.brokers.listener import Log
from barnabas.designs.central_coordination.states import OFFSETS, REGISTERING
from tests.designs.central_coordination.peers.world import World
from tests.designs.group_machine import PAUSES, GroupMachine, explore

ENDINGS: Final = (
    "kill",
    "vanish",
    "silence",
    "one by one",
    "grow twice",
    "pause",
    "twin",
    "crash",
    "crash, and one is late",
)
"""What befalls the group when it has recovered: alone, so that nothing else mends it."""


class Group(GroupMachine):
    world: World

    @initialize(
        latency=st.sampled_from((1, 7, 40)),
        reading=st.sampled_from((1, 30)),
        names=st.sampled_from(("a", "ab", "abc")),
        settled=st.booleans(),
    )
    def begin(self, latency: int, reading: int, names: str, settled: bool) -> None:
        self.world = World(brokers=3)
        self.world.latency, self.world.reading, self.world.consumes = latency, reading, True
        self.add_first(names, settled=settled)

    @rule(then=PAUSES)
    def session_of_the_coordinator_ends(self, then: int) -> None:
        self.world.resign()
        self.world.run(then)

    @precondition(lambda self: len(self.world.topics["t"]) < 7)
    @rule(then=PAUSES)
    def add_partition(self, then: int) -> None:
        self.world.grow("t", f"9-{len(self.world.topics['t'])}")
        self.world.run(then)

    def teardown(self) -> None:
        """No more faults: within bounded time all that live own all there is, each once; and once more."""
        if not self.mend():
            return
        world = self.world
        world.reading = 1
        world.run(2_000)
        if any(isinstance(action, Log) and action.level == "FATAL" for _, _, action in world.log):
            world.grow("t", "last")  # a group that was given up waits for a change
        world.until(world.settled, limit=8_000)
        world.until(world.settled, limit=self.end())

    def end(self) -> int:
        """One thing that happens to a group in which all is well; in how many ms it is to be mended."""
        world = self.world
        for name in ("X", "Y", "Z"):  # the first of all: they own something
            world.add(name)
        world.until(world.settled)
        world.run(250)  # nobody was asked since where it is
        x, y = world.applications["X"], world.applications["Y"]
        assert x.link is not None
        assert y.link is not None
        match self.ending:
            case "kill":
                world.kill("X")
            case "vanish":
                x.link.lossy = x.dead = True
                return 600  # a third until the next of three pings, of which the last is late after two
            case "silence":
                x.link.lossy = True
                world.grow("t", "silence")
            case "one by one":
                x.link.lossy = x.dead = True
                world.grow("t", "one by one")
                world.run(5)
                y.link.lossy = y.dead = True
                return 410  # two thirds for each
            case "grow twice":
                world.grow("t", "once")
                world.run(4)  # start-fetcher is under way: this change is another one
                world.grow("t", "twice")
            case "pause":
                world.pause("Y")  # what it says when it is back comes behind what X says
                world.run(1_500)
                world.resume("Y")
            case "twin":
                world.add("twin", consumer_id="X")
                world.run(500)
                world.kill("twin")
            case "crash":
                world.crash(world.coordinator.node)
            case "crash, and one is late":
                world.crash(world.coordinator.node)
                world.until(lambda: y.core.state == REGISTERING)
                world.pause("Y")
                world.reading = 50
                world.until(self.reading)
                world.resume("Y")  # it registers while the offsets of the others are read
        return 8_000

    def reading(self) -> bool:
        """Whether the coordinator reads the offsets of the group."""
        group = self.world.coordinator.groups.get("g")
        return group is not None and group.state == OFFSETS


@pytest.mark.timeout(480)  # what it finds it may shrink for 300 s
@pytest.mark.parametrize("ending", ENDINGS)
def test_group(ending: str) -> None:
    explore(Group, ending)


def test_a_consumer_whose_answer_is_lost_stops_before_others_start() -> None:
    """A ping behind the lost answer let it fetch on when its partitions had been given to others."""
    group = Group("kill")
    group.begin(latency=40, reading=1, names="abc", settled=False)
    for _ in range(3):
        group.add_partition(then=0)
    group.break_connection("c", silently=False, then=0)
    group.pass_time(1)
    group.pass_time(1)
    group.pass_time(326)
    group.break_connection("c", silently=True, then=0)
    group.teardown()
