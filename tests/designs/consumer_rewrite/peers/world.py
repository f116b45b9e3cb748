"""Brokers and consumers of the rewrite on a virtual clock: a network that delays, loses and cuts.

What may never happen is checked as it happens: two owners of a partition in one generation, a partition
without one, and what `promises` has of commits and heartbeats.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from barnabas.designs.brokers.listener import Address, Send
from barnabas.designs.brokers.registry import Entry, MemoryElector
from barnabas.designs.brokers.registry.paths import name_of
from barnabas.designs.consumer_rewrite.peers.actions import (
    BrokerAction,
    Consume,
    ConsumerAction,
    Fail,
    Halt,
    Load,
    Write,
)
from barnabas.designs.consumer_rewrite.peers.consumer import Consumer
from barnabas.designs.consumer_rewrite.peers.coordinator import Broker, slot_of
from barnabas.designs.consumer_rewrite.peers.election import rank_for
from barnabas.designs.consumer_rewrite.peers.group_entry import decode, path_of
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings, ConsumerSettings
from barnabas.designs.consumer_rewrite.peers.strategies import STRATEGIES, Partition, Strategy
from barnabas.designs.consumer_rewrite.peers.wire import request
from barnabas.designs.consumer_rewrite.states import DOWN
from tests.designs import virtual_design
from tests.designs.consumer_rewrite.peers.promises import Promises
from tests.designs.virtual_design import Link
from tests.designs.virtual_network import Network

SETTINGS = BrokerSettings(slots=2)


@dataclass
class Application(virtual_design.Application):
    """What stands around a consumer: it consumes a record of each of its partitions at each poll."""

    core: Consumer
    commits: bool = True
    """At each poll."""
    generation: int = -1
    partitions: frozenset[Partition] = frozenset()

    def halt(self) -> None:
        self.generation, self.partitions = -1, frozenset()


class World(Network[Application, Link]):
    """The network, the clock, the registry, and everybody on them. Times are ms."""

    brokers: dict[int, Broker | None]
    make_link = Link

    def __init__(
        self,
        brokers: int = 2,
        topics: dict[str, int] | None = None,
        strategies: Mapping[str, Strategy] = STRATEGIES,
    ) -> None:
        super().__init__({slot: MemoryElector(rank_for(slot)) for slot in range(SETTINGS.slots)})
        self.settings = replace(SETTINGS, strategies=strategies)
        self.starts_again: int | None = None
        """After so long an application starts a consumer again that was unable to join; None: never."""
        self.load_ms = 5
        self.write_ms = 1
        self.topics = {"t": 4} if topics is None else topics
        self.owners: dict[tuple[str, int, Partition], str] = {}
        self.incarnation: dict[int, int] = {}
        self.promises = Promises(self.registry)
        self.deaf: set[int] = set()
        """Brokers that do not hear what the controller says."""
        self._led: dict[int, dict[int, int]] = {}
        self._ids = itertools.count()
        for node in range(1, brokers + 1):
            self.boot(node)

    def boot(self, node: int) -> None:
        """Start a broker, which stands for election."""
        self.incarnation[node] = self.incarnation.get(node, 0) + 1
        broker = Broker(node, self.settings, new_id=lambda: f"{next(self._ids):04}")
        self.brokers[node] = broker
        self._led[node] = {}
        broker.topics(self.topics, self.now)
        for elector in self.electors.values():
            elector.enter(node)
        self.elect()

    def elect(self) -> None:
        """The controller tells all who leads; those that lead something new load it."""
        leaders = {slot: elector.leader() for slot, elector in self.electors.items()}
        nodes: dict[int, Address] = {
            node: ("broker", node) for node, broker in self.brokers.items() if broker is not None
        }
        for node, broker in self.brokers.items():
            if broker is None or node in self.deaf:
                continue
            broker.cluster(nodes, {s: one.candidate for s, one in leaders.items() if one})
            for slot, leader in leaders.items():
                leads = leader is not None and leader.candidate == node
                term = leader.term if leads and leader else None
                if self._led[node].get(slot) not in (None, term):
                    del self._led[node][slot]
                    self._of_broker(node, broker.resigned(slot, self.now))
                if term is not None and slot not in self._led[node]:
                    self._led[node][slot] = term
                    self._of_broker(node, broker.elected(slot))

    def add(self, name: str, **options: object) -> Application:
        """Start a consumer."""
        defaults: dict[str, object] = {
            "group_id": "g",
            "bootstrap": tuple(("broker", node) for node in self.brokers),
            "topics": ("t",),
            "session_timeout_ms": 300,
            "backoff_ms": 20,
            "request_timeout_ms": 200,
            "join_timeout_ms": 2_000,
            "client_id": name,
        }
        core = Consumer(ConsumerSettings(**(defaults | options)))  # type: ignore[arg-type]
        application = self.applications[name] = Application(core)
        self._of_consumer(name, core.start(self.now))
        return application

    def leave(self, name: str) -> None:
        """A consumer is shut down in order."""
        self._of_consumer(name, self.applications[name].core.stop(self.now))
        self.applications[name].dead = True

    def confuse(self, consumer_id: str, generation: int) -> None:
        """A heartbeat and a commit on a connection of their own, with what somebody takes for true."""
        leader = self.electors[slot_of("g", SETTINGS.slots)].leader()
        broker = None if leader is None else self.brokers[leader.candidate]
        if leader is None or broker is None:
            return
        number = next(self._links)
        row = {"partition": 0, "offset": self.now, "timestamp": 0, "metadata": ""}
        who = {"group_id": "g", "group_generation_id": generation, "consumer_id": consumer_id}
        topics = [{"topic": "t", "partitions": [row]}]
        broker.connected(number)
        for at, api, body in ((1, "Heartbeat", who), (2, "OffsetCommit", who | {"topics": topics})):
            data = request(api, at, "confused", body)
            self.promises.asked(number, data)
            self._of_broker(leader.candidate, broker.receive(number, data, self.now))

    def partition_count(self, topic: str, count: int) -> None:
        """A topic has so many partitions now."""
        self.topics = self.topics | {topic: count}
        for node, broker in self.brokers.items():
            if broker is not None:
                self._of_broker(node, broker.topics(self.topics, self.now))

    def settled(self, group: str = "g") -> bool:
        """Whether all consumers that live own all partitions in the registry's generation."""
        living = self.living(group)
        entry = self.registry.read(path_of(group))
        if entry is None:
            return not living
        record = decode(entry.data)
        topics = {topic for one in living for topic in one.core.topics}
        wanted = {(t, n) for t in topics for n in range(self.topics.get(t, 0))}
        owned = [at for one in living for at in one.partitions]
        return (
            {one.consumer_id for one in record.consumers}
            == {one.core.consumer_id for one in living}
            and all(one.core.generation == record.generation for one in living)
            and len(owned) == len(wanted)
            and set(owned) == wanted
        )

    def summary(self) -> str:
        """For messages of failed assertions."""
        rows = [
            f"{name}: {one.core.state} g{one.core.generation} {one.core.consumer_id} {sorted(one.partitions)}"
            for name, one in self.applications.items()
        ]
        states = [f"{n}: {b and b.state('g')}" for n, b in self.brokers.items()]
        return "\n".join([f"at {self.now}", *rows, *states])

    def state(self, group: str = "g") -> str:
        """The group's state at its coordinator."""
        broker = self.brokers[self.coordinator(group)]
        return DOWN if broker is None else broker.state(group)

    def coordinator(self, group: str = "g") -> int:
        """The node that leads the group's slot."""
        leader = self.electors[slot_of(group, SETTINGS.slots)].leader()
        assert leader is not None
        return leader.candidate

    def _leads(self, node: int) -> bool:
        """Whether a broker leads the group's slot, and knows who leads."""
        leader = self.electors[slot_of("g", SETTINGS.slots)].leader()
        return node not in self.deaf and leader is not None and leader.candidate == node

    # what the cores want done

    def _poll(self, name: str) -> None:
        application = self.applications[name]
        for at in application.partitions:
            application.core.positions[at] += 1
        if application.commits:
            self._of_consumer(name, application.core.commit(self.now))
        self._of_consumer(name, application.core.poll(self.now))

    def _sends(self, node: int, action: Send, link: Link | None) -> None:
        self.promises.answered(action.connection, action.data, leads=self._leads(node))

    def _asks(self, node: int, action: BrokerAction) -> bool:
        if isinstance(action, Write):
            if not self._write(action):
                self._fence(node)
                return False
            self._for_life(node, self.write_ms, partial(self._written, action.group))
        else:
            assert isinstance(action, Load)
            self._for_life(node, self.load_ms, partial(self._load, action.slot))
        return True

    def _arrives(self, link: Link, data: bytes) -> None:
        self.promises.asked(link.number, data)

    def _for_life(self, node: int, ms: int, call: Callable[[Broker], list[BrokerAction]]) -> None:
        incarnation = self.incarnation[node]

        def work() -> None:
            broker = self.brokers[node]
            if broker is not None and self.incarnation[node] == incarnation:
                self._of_broker(node, call(broker))

        self._later(ms, work)

    def _write(self, action: Write) -> bool:
        path = path_of(action.group)
        before, record = self.registry.read(path), decode(action.data)
        if not self.registry.write(path, action.data, action.version):
            return False
        if before is not None:
            old = decode(before.data)
            assert record.generation == old.generation + (record.offsets == old.offsets)
        owned = [at for one in record.consumers for at in one.owns]
        assert len(owned) == len(set(owned)), "two owners"
        topics = {topic for one in record.consumers for topic in one.topics}
        every = {(t, n) for t in topics for n in range(record.partitions.get(t, 0))}
        assert set(owned) == every, "a partition without an owner"
        return True

    def _fence(self, node: int) -> None:
        """Somebody else has written: this broker starts anew."""
        self.crash(node)
        self.boot(node)

    def _written(self, group: str, broker: Broker) -> list[BrokerAction]:
        return broker.written(group, self.now)

    def _load(self, slot: int, broker: Broker) -> list[BrokerAction]:
        entries = {}
        for name in self.registry.children("/groups"):
            group = name_of(name)
            if slot_of(group, SETTINGS.slots) == slot:
                entry = self.registry.read(path_of(group))
                assert entry is not None
                assert self.registry.write(path_of(group), entry.data, entry.version)
                entries[group] = Entry(entry.data, entry.version + 1)
        return broker.loaded(slot, entries, self.now)

    def _does(self, name: str, application: Application, action: ConsumerAction) -> None:
        if isinstance(action, Consume):
            self._consume(name, action)
        elif isinstance(action, Halt):
            application.halt()
        else:
            assert isinstance(action, Fail)
            if self.starts_again is not None:
                self._later(self.starts_again, partial(self.restart, name))

    def restart(self, name: str) -> None:
        """The application starts a consumer again that was unable to join."""
        application = self.applications[name]
        if not application.dead and application.core.state == DOWN:
            self._of_consumer(name, application.core.start(self.now))

    def _consume(self, name: str, action: Consume) -> None:
        application = self.applications[name]
        group = application.core.settings.group_id
        application.generation = action.generation
        application.partitions = frozenset(action.start)

        for at in action.start:
            owner = self.owners.setdefault((group, action.generation, at), name)
            assert owner == name, f"{owner} and {name} own {at} in generation {action.generation}"
