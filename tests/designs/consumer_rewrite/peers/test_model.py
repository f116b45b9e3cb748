"""Whatever is lost, delayed or dies: the promises of the design hold, and the group recovers.

`World` and `Promises` check as it goes: at most one owner of a partition in every generation, every
partition owned after a rebalance, no commit of another generation taken.
"""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from barnabas.designs.consumer_rewrite.states import REBALANCING
from tests.designs.consumer_rewrite.peers.world import World
from tests.designs.group_machine import NAMES, NODES, PAUSES, GroupMachine, explore

ENDINGS: Final = ("kill", "leave", "vanish", "grow", "grow twice", "pause", "crash", "none")
"""What befalls the group when it has recovered: alone, so that nothing else mends it."""


class Group(GroupMachine):
    world: World

    @initialize(
        latency=st.sampled_from((1, 7, 40)),
        write_ms=st.sampled_from((1, 30)),
        names=st.sampled_from(("a", "ab", "abc")),
        settled=st.booleans(),
    )
    def begin(self, latency: int, write_ms: int, names: str, settled: bool) -> None:
        self.world = self.world_of()
        self.world.latency, self.world.write_ms = latency, write_ms
        self.add_first(names, settled=settled)

    def world_of(self) -> World:
        """Where it happens."""
        return World(brokers=3, topics={"t": 3})

    @rule(name=NAMES, then=PAUSES)
    def start_one_that_sends_no_id(self, name: str, then: int) -> None:
        if not self.living(name):
            self.world.add(name, sends_consumer_id=False)
        self.world.run(then)

    @rule(name=NAMES, then=PAUSES)
    def leave(self, name: str, then: int) -> None:
        if self.living(name):
            self.world.leave(name)
        self.world.run(then)

    @rule(name=NAMES, off=st.sampled_from((-1, 0, 1)))
    def requests_of_another_generation(self, name: str, off: int) -> None:
        """As of a consumer with a bug, or one whose requests come late."""
        known = self.world.applications.get(name)
        if known is not None and known.core.consumer_id:
            self.world.confuse(known.core.consumer_id, known.core.generation + off)

    @rule(node=NODES, hears=st.booleans(), then=PAUSES)
    def move_leaders(self, node: int, hears: bool, then: int) -> None:
        """The controller takes this broker's slots from it, which may not hear of it: a zombie."""
        if not hears:
            self.world.deaf.add(node)
        for elector in self.world.electors.values():
            elector.leave(node)
        if self.world.brokers[node] is not None:
            for elector in self.world.electors.values():
                elector.enter(node)
        self.world.elect()
        self.world.run(then)

    @rule(node=NODES, then=PAUSES)
    def hear_again(self, node: int, then: int) -> None:
        self.world.deaf.discard(node)
        self.world.elect()
        self.world.run(then)

    @rule(slow=st.sampled_from((5, 250)), then=PAUSES)
    def loading_takes(self, slow: int, then: int) -> None:
        self.world.load_ms = slow
        self.world.run(then)

    @precondition(lambda self: self.world.topics["t"] < 6)
    @rule(then=PAUSES)
    def add_partition(self, then: int) -> None:
        self.world.partition_count("t", self.world.topics["t"] + 1)
        self.world.run(then)

    def teardown(self) -> None:
        """No more faults: within bounded time all that live own all there is; and once more."""
        if hasattr(self, "world"):
            self.world.load_ms, self.world.deaf = 5, set()
        if not self.mend():
            return
        world = self.world
        world.elect()
        world.until(world.settled, limit=8_000)
        self.end()
        world.until(world.settled, limit=8_000)
        self.strangers()

    def strangers(self) -> None:
        """All is well, and somebody commits who is not in it: one that was removed, and one of nobody's."""
        world = self.world
        of_today = {one.core.consumer_id for one in world.applications.values() if not one.dead}
        for name in sorted({"nobody", self.former} - of_today):
            world.confuse(name, world.applications["y"].core.generation)
            world.run(2 * world.write_ms)

    def end(self) -> None:
        """One thing that happens to a group of at least two in which all is well."""
        world = self.world
        world.gather(("x", "y"))
        x = world.applications["x"]
        assert x.link is not None
        self.former = x.core.consumer_id
        match self.ending:
            case "kill":
                world.kill("x")
            case "leave":
                world.leave("x")
            case "vanish":
                x.link.lossy, x.dead, x.partitions = True, True, frozenset()
            case "grow" | "grow twice":
                world.partition_count("t", world.topics["t"] + 1)
                if self.ending != "grow":
                    world.until(lambda: world.state() == REBALANCING)
                    world.partition_count("t", world.topics["t"] + 1)
            case "pause":
                stale = x.core.consumer_id, x.core.generation
                world.pause("x")
                world.run(700)
                world.confuse(*stale)
                world.confuse(stale[0], world.applications["y"].core.generation)
                world.resume("x")
                world.until(world.settled)
                for off in (-1, 1):
                    world.confuse(x.core.consumer_id, x.core.generation + off)
            case "crash":
                world.crash(world.coordinator())
            case _:
                generation = x.core.generation
                world.run(1_000)
                assert x.core.generation == generation, "a rebalance without a reason"


@pytest.mark.timeout(480)  # what it finds it may shrink for 300 s
@pytest.mark.parametrize("ending", ENDINGS)
def test_group(ending: str) -> None:
    explore(Group, ending)
