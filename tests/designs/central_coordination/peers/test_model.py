"""Whatever is lost, delayed or dies: no start-fetcher gives a partition twice, and the group recovers."""

from __future__ import annotations

import sys
from typing import Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from barnabas.designs.brokers.listener import Log
from barnabas.designs.central_coordination.peers.actions import BrokerAction
from barnabas.designs.central_coordination.states import OFFSETS, REGISTERING
from tests.designs.central_coordination.peers.world import World
from tests.designs.models import explore

NAMES = st.sampled_from("abcd")
NODES = st.sampled_from((1, 2))
PAUSES = st.sampled_from((0, 1, 2, 5, 25, 110, 350))
"""ms that pass behind each step."""
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


class Group(RuleBasedStateMachine):
    """A group of up to four consumers, two brokers, and all that may befall them."""

    def __init__(self, ending: str) -> None:
        super().__init__()
        self.ending = ending

    @initialize(
        latency=st.sampled_from((1, 7, 40)),
        reading=st.sampled_from((1, 30)),
        names=st.sampled_from(("a", "ab", "abc")),
        settled=st.booleans(),
    )
    def begin(self, latency: int, reading: int, names: str, settled: bool) -> None:
        self.world = World()
        self.world.latency, self.world.reading, self.world.consumes = latency, reading, True
        for name in names:
            self.world.add(name)
            if settled:
                self.world.until(self.world.settled)

    @rule(ms=st.sampled_from((1, 3, 10, 30, 100, 301, 700)))
    def pass_time(self, ms: int) -> None:
        self.world.run(ms)

    @rule(name=NAMES, then=PAUSES)
    def start_consumer(self, name: str, then: int) -> None:
        known = self.world.applications.get(name)
        if known is None or known.dead:
            self.world.add(name)
        self.world.run(then)

    @rule(name=NAMES, then=PAUSES)
    def end_consumer(self, name: str, then: int) -> None:
        known = self.world.applications.get(name)
        if known is not None and not known.dead:
            self.world.kill(name)
        self.world.run(then)

    @rule(name=NAMES, then=PAUSES)
    def pause(self, name: str, then: int) -> None:
        if name in self.world.applications:
            self.world.pause(name)
        self.world.run(then)

    @rule(name=NAMES, then=PAUSES)
    def resume(self, name: str, then: int) -> None:
        known = self.world.applications.get(name)
        if known is not None and not known.dead and not known.polls:
            self.world.resume(name)
        self.world.run(then)

    @rule(name=NAMES, silently=st.booleans(), then=PAUSES)
    def break_connection(self, name: str, silently: bool, then: int) -> None:
        known = self.world.applications.get(name)
        if known is not None and known.link is not None:
            if silently:
                known.link.lossy = True
            else:
                self.world.cut(known.link)
        self.world.run(then)

    @rule(node=NODES, then=PAUSES)
    def crash(self, node: int, then: int) -> None:
        self.world.crash(node)
        self.world.run(then)

    @rule(node=NODES, actions=st.integers(1, 12), then=PAUSES)
    def crash_between_actions(self, node: int, actions: int, then: int) -> None:
        left = [actions]

        def crash_before(broker: int, action: BrokerAction) -> bool:
            left[0] -= broker == node
            return broker == node and left[0] == 0

        self.world.crash_before = crash_before
        self.world.run(then)

    @rule(node=NODES, then=PAUSES)
    def boot(self, node: int, then: int) -> None:
        if self.world.brokers[node] is None:
            self.world.boot(node)
        self.world.run(then)

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
        if not hasattr(self, "world") or sys.exception() is not None:
            return  # what has failed already is what is to be told
        world = self.world
        world.crash_before = lambda broker, action: False
        world.latency = world.reading = 1
        for node, broker in world.brokers.items():
            if broker is None:
                world.boot(node)
        for name, one in world.applications.items():
            if not one.dead and not one.polls:
                world.resume(name)
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


@pytest.mark.slow("a long property")
@pytest.mark.timeout(480)  # what it finds it may shrink for 300 s
@pytest.mark.parametrize("ending", ENDINGS)
def test_group(ending: str) -> None:
    explore(Group, ending)
