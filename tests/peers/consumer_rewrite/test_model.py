"""Whatever is lost, delayed or dies: the promises of the design hold, and the group recovers.

`World` checks as it goes: at most one owner of a partition in every generation, every partition owned
after a rebalance, no commit of a stale generation taken.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from peers.consumer_rewrite.actions import BrokerAction
from tests.peers.consumer_rewrite.world import World

NAMES = st.sampled_from("abcd")
NODES = st.sampled_from((1, 2, 3))


class Group(RuleBasedStateMachine):
    """A group of up to four consumers, three brokers, and all that may befall them."""

    @initialize(latency=st.sampled_from((1, 7, 40)), write_ms=st.sampled_from((1, 30)))
    def begin(self, latency: int, write_ms: int) -> None:
        self.world = World(brokers=3, topics={"t": 3})
        self.world.latency, self.world.write_ms = latency, write_ms
        self.world.add("a")

    @rule(ms=st.sampled_from((1, 3, 10, 30, 100, 301, 700)))
    def pass_time(self, ms: int) -> None:
        self.world.run(ms)

    @rule(name=NAMES, anonymous=st.booleans())
    def start_consumer(self, name: str, anonymous: bool) -> None:
        known = self.world.applications.get(name)
        if known is None or known.dead:
            self.world.add(name, sends_consumer_id=not anonymous)

    @rule(name=NAMES, politely=st.booleans())
    def end_consumer(self, name: str, politely: bool) -> None:
        known = self.world.applications.get(name)
        if known is not None and not known.dead:
            (self.world.leave if politely else self.world.kill)(name)

    @rule(name=NAMES)
    def pause(self, name: str) -> None:
        if name in self.world.applications:
            self.world.pause(name)

    @rule(name=NAMES)
    def resume(self, name: str) -> None:
        known = self.world.applications.get(name)
        if known is not None and not known.dead and not known.polls:
            self.world.resume(name)

    @rule(name=NAMES, silently=st.booleans())
    def break_connection(self, name: str, silently: bool) -> None:
        known = self.world.applications.get(name)
        if known is not None and known.link is not None:
            if silently:
                known.link.lossy = True
            else:
                self.world.cut(known.link)

    @rule(node=NODES)
    def crash(self, node: int) -> None:
        self.world.crash(node)

    @rule(node=NODES, actions=st.integers(1, 12))
    def crash_between_actions(self, node: int, actions: int) -> None:
        left = [actions]

        def crash_before(broker: int, action: BrokerAction) -> bool:
            left[0] -= broker == node
            return broker == node and left[0] == 0

        self.world.crash_before = crash_before

    @rule(node=NODES)
    def boot(self, node: int) -> None:
        if self.world.brokers[node] is None:
            self.world.boot(node)

    @rule(node=NODES, hears=st.booleans())
    def move_leaders(self, node: int, hears: bool) -> None:
        """The controller takes this broker's slots from it, which may not hear of it: a zombie."""
        if not hears:
            self.world.deaf.add(node)
        for elector in self.world.electors.values():
            elector.leave(node)
        if self.world.brokers[node] is not None:
            for elector in self.world.electors.values():
                elector.enter(node)
        self.world.elect()

    @rule(node=NODES)
    def hear_again(self, node: int) -> None:
        self.world.deaf.discard(node)
        self.world.elect()

    @rule(slow=st.sampled_from((5, 250)))
    def loading_takes(self, slow: int) -> None:
        self.world.load_ms = slow

    @precondition(lambda self: self.world.topics["t"] < 6)
    @rule()
    def add_partition(self) -> None:
        self.world.partition_count("t", self.world.topics["t"] + 1)

    def teardown(self) -> None:
        """No more faults: within bounded time all that live own all there is."""
        if not hasattr(self, "world"):
            return
        world = self.world
        world.crash_before = lambda broker, action: False
        world.latency, world.load_ms, world.deaf = 1, 5, set()
        world.elect()
        for node, broker in world.brokers.items():
            if broker is None:
                world.boot(node)
        for name, one in world.applications.items():
            if not one.dead and not one.polls:
                world.resume(name)
        world.until(world.settled, limit=8_000)


Group.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestGroup = Group.TestCase
