"""What may befall a group of either design on its virtual network, in any order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

NAMES: Final = st.sampled_from("abcd")
NODES: Final = st.sampled_from((1, 2, 3))
PAUSES: Final = st.sampled_from((0, 1, 2, 5, 25, 110, 350))
"""ms that pass behind each step."""


class GroupMachine(RuleBasedStateMachine):
    """A group of up to four consumers, three brokers, and all that may befall them.

    ending: what befalls the group when it has recovered: alone, so that nothing else mends it.
    """

    world: Any

    def __init__(self, ending: str) -> None:
        super().__init__()
        self.ending = ending

    def add_first(self, names: str, *, settled: bool) -> None:
        for name in names:
            self.world.add(name)
            if settled:
                self.world.until(self.world.settled)

    def living(self, name: str) -> Any:
        """The application of this name, if it lives."""
        known = self.world.applications.get(name)
        return None if known is None or known.dead else known

    @rule(ms=st.sampled_from((1, 3, 10, 30, 100, 301, 700)))
    def pass_time(self, ms: int) -> None:
        self.world.run(ms)

    @rule(name=NAMES, then=PAUSES)
    def start_consumer(self, name: str, then: int) -> None:
        if not self.living(name):
            self.world.add(name)
        self.world.run(then)

    @rule(name=NAMES, then=PAUSES)
    def kill_consumer(self, name: str, then: int) -> None:
        if self.living(name):
            self.world.kill(name)
        self.world.run(then)

    @rule(name=NAMES, then=PAUSES)
    def pause(self, name: str, then: int) -> None:
        if name in self.world.applications:
            self.world.pause(name)
        self.world.run(then)

    @rule(name=NAMES, then=PAUSES)
    def resume(self, name: str, then: int) -> None:
        known = self.living(name)
        if known and not known.polls:
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

        def crash_before(broker: int, action: object) -> bool:
            left[0] -= broker == node
            return broker == node and left[0] == 0

        self.world.crash_before = crash_before
        self.world.run(then)

    @rule(node=NODES, then=PAUSES)
    def boot(self, node: int, then: int) -> None:
        if self.world.brokers[node] is None:
            self.world.boot(node)
        self.world.run(then)

    def mend(self) -> bool:
        """No more faults; whether there is anything to look at: what has failed already is to be told."""
        if not hasattr(self, "world") or sys.exception() is not None:
            return False
        world = self.world
        world.crash_before = lambda broker, action: False
        world.latency = 1
        for node, broker in world.brokers.items():
            if broker is None:
                world.boot(node)
        for name, one in world.applications.items():
            if not one.dead and not one.polls:
                world.resume(name)
        return True


Machine = Callable[[str], RuleBasedStateMachine]
"""Makes a machine whose runs end in this way."""

SETTINGS: Final = settings(max_examples=15, stateful_step_count=25)


def explore(machine: Machine, ending: str, how: settings = SETTINGS) -> None:
    """Look for a run with this ending that breaks a promise. Raises what it raised.

    Each ending has a search of its own: of 80 examples with one of eight endings Hypothesis, which draws in
    clusters, shows some endings twenty times and others never.
    """
    run_state_machine_as_test(lambda: machine(ending), settings=how)  # type: ignore[arg-type]  # a function will do, it says
