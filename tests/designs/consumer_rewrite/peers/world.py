"""Brokers and consumers of the rewrite on a virtual clock: a network that delays, loses and cuts.

What may never happen is checked as it happens: two owners of a partition in one generation, a partition
without one, and what `promises` has of commits and heartbeats.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from barnabas.designs.brokers.listener import Address, Close, Log, Send
from barnabas.designs.brokers.registry import Entry, MemoryElector, MemoryRegistry
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
from barnabas.designs.consuming.dialer import Connect, Disconnect, Transmit
from tests.designs.consumer_rewrite.peers.promises import Promises
from tests.peers.wire_tap import Tapped

SETTINGS = BrokerSettings(slots=2)

BUSY = 1_000
"""So many things in the same millisecond are a loop."""


@dataclass
class Link:
    """A connection of a consumer to a broker."""

    number: int
    consumer: str
    broker: int
    open_here: bool = True
    open_there: bool = False
    latest: dict[str, int] = field(default_factory=lambda: {"here": 0, "there": 0})
    """When what was last sent arrives at the consumer (here) and at the broker (there)."""
    lossy: bool = False
    """Whatever is sent from now on does not arrive, and nobody hears of it."""


@dataclass
class Application:
    """What stands around a consumer: it consumes a record of each of its partitions at each poll."""

    core: Consumer
    polls: bool = True
    dead: bool = False
    commits: bool = True
    """At each poll."""
    link: Link | None = None
    generation: int = -1
    partitions: frozenset[Partition] = frozenset()
    history: list[tuple[int, frozenset[Partition]]] = field(default_factory=list)
    inbox: list[Callable[[], list[ConsumerAction]]] = field(default_factory=list)
    """What the network has for it, as long as it does not poll."""


class World:
    """The network, the clock, the registry, and everybody on them. Times are ms."""

    def __init__(
        self,
        brokers: int = 2,
        topics: dict[str, int] | None = None,
        strategies: Mapping[str, Strategy] = STRATEGIES,
    ) -> None:
        self.now = 0
        self.settings = replace(SETTINGS, strategies=strategies)
        self.starts_again: int | None = None
        """After so long an application starts a consumer again that was unable to join; None: never."""
        self.latency = 1
        self.load_ms = 5
        self.write_ms = 1
        self.registry = MemoryRegistry()
        self.electors = {slot: MemoryElector(rank_for(slot)) for slot in range(SETTINGS.slots)}
        self.topics = {"t": 4} if topics is None else topics
        self.brokers: dict[int, Broker | None] = {}
        self.applications: dict[str, Application] = {}
        self.links: dict[int, Link] = {}
        self.owners: dict[tuple[str, int, Partition], str] = {}
        self.log: list[tuple[int, str, object]] = []
        self.tapped: Tapped = []
        self.crash_before: Callable[[int, BrokerAction], bool] = lambda broker, action: False
        self.incarnation: dict[int, int] = {}
        self.promises = Promises(self.registry)
        self.deaf: set[int] = set()
        """Brokers that do not hear what the controller says."""
        self._led: dict[int, dict[int, int]] = {}
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._ids = itertools.count()
        self._links = itertools.count()
        for node in range(1, brokers + 1):
            self.boot(node)

    # who there is

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

    def crash(self, node: int) -> None:
        """A broker dies: its connections end, and others are elected."""
        if self.brokers[node] is None:
            return
        self.brokers[node] = None
        for link in [one for one in self.links.values() if one.broker == node]:
            self._end_there(link, told=False)
            self._hang_up(link)
        for elector in self.electors.values():
            elector.leave(node)
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

    def kill(self, name: str) -> None:
        """A consumer dies without a word; its connection is reset."""
        application = self.applications[name]
        application.dead = True
        application.generation, application.partitions = -1, frozenset()
        if application.link is not None:
            self.cut(application.link)

    def leave(self, name: str) -> None:
        """A consumer is shut down in order."""
        application = self.applications[name]
        self._of_consumer(name, application.core.stop(self.now))
        application.dead = True

    def confuse(self, consumer_id: str, generation: int) -> None:
        """A heartbeat and a commit on a connection of their own, with what somebody takes for true."""
        leader = self.electors[slot_of("g", SETTINGS.slots)].leader()
        broker = None if leader is None else self.brokers[leader.candidate]
        if leader is None or broker is None:
            return
        number = next(self._links)
        row = {"partition": 0, "offset": self.now, "timestamp": 0, "metadata": ""}
        who = {
            "group_id": "g",
            "group_generation_id": generation,
            "consumer_id": consumer_id,
        }
        topics = [{"topic": "t", "partitions": [row]}]
        broker.connected(number)
        for at, api, body in ((1, "Heartbeat", who), (2, "OffsetCommit", who | {"topics": topics})):
            data = request(api, at, "confused", body)
            self.promises.asked(number, data)
            self._of_broker(leader.candidate, broker.receive(number, data, self.now))

    def pause(self, name: str) -> None:
        """The application does not poll."""
        self.applications[name].polls = False

    def resume(self, name: str) -> None:
        """The application polls again."""
        application = self.applications[name]
        application.polls = True
        inbox, application.inbox = application.inbox, []
        for call in inbox:
            self._of_consumer(name, call())
        self._poll(name)

    def partition_count(self, topic: str, count: int) -> None:
        """A topic has so many partitions now."""
        self.topics = self.topics | {topic: count}
        for node, broker in self.brokers.items():
            if broker is not None:
                self._of_broker(node, broker.topics(self.topics, self.now))

    def cut(self, link: Link) -> None:
        """Reset a connection; both sides hear of it."""
        self._end_here(link, told=True)
        self._end_there(link, told=True)

    # time

    def run(self, ms: int) -> None:
        """Let so much time pass."""
        end, busy = self.now + ms, 0
        while True:
            due = self._events[0][0] if self._events else end + 1
            wakes: list[tuple[int, Callable[[], None]]] = [(due, self._happen)]
            for node, broker in self.brokers.items():
                if broker is not None and broker.wake is not None:
                    wakes.append((max(broker.wake, self.now), partial(self._tick, node)))
            for name, one in self.applications.items():
                if not one.dead and one.polls and one.core.wake is not None:
                    wakes.append((max(one.core.wake, self.now), partial(self._poll, name)))
            at, call = min(wakes, key=lambda wake: wake[0])
            if at > end:
                break
            busy = busy + 1 if at == self.now else 0
            assert busy < BUSY, f"no end of what is to be done at {at}"
            self.now = at
            call()
        self.now = end

    def _happen(self) -> None:
        heapq.heappop(self._events)[2]()

    def _tick(self, node: int) -> None:
        broker = self.brokers[node]
        assert broker is not None
        self._of_broker(node, broker.tick(self.now))

    def until(self, condition: Callable[[], bool], limit: int = 10_000) -> int:
        """Let time pass until something is so; returns how long that took. Raises AssertionError."""
        began = self.now
        while not condition():
            assert self.now - began < limit, f"not within {limit} ms: {self.summary()}"
            self.run(1)
        return self.now - began

    def settled(self, group: str = "g") -> bool:
        """Whether all consumers that live own all partitions in the registry's generation."""
        living = [
            one
            for one in self.applications.values()
            if not one.dead and one.polls and one.core.settings.group_id == group
        ]
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

    def _later(self, ms: int, call: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + ms, next(self._order), call))

    def _along(self, link: Link, to: str, call: Callable[[], None]) -> None:
        """Over a connection: nothing overtakes what was sent before, even if the latency has changed."""
        at = link.latest[to] = max(self.now + self.latency, link.latest[to])
        heapq.heappush(self._events, (at, next(self._order), call))

    def _poll(self, name: str) -> None:
        application = self.applications[name]
        for at in application.partitions:
            application.core.positions[at] += 1
        if application.commits:
            self._of_consumer(name, application.core.commit(self.now))
        self._of_consumer(name, application.core.poll(self.now))

    def _of_broker(self, node: int, actions: list[BrokerAction]) -> None:
        """Carry out what a broker wants, unless it dies before."""
        for action in actions:
            broker = self.brokers[node]
            if broker is None:
                return
            if self.crash_before(node, action):
                self.crash(node)
                return
            self.log.append((self.now, f"broker {node}", action))
            if isinstance(action, Send):
                self.promises.answered(action.connection, action.data, leads=self._leads(node))
                link = self.links.get(action.connection)
                if link is not None:
                    self._to_consumer(link, action.data)
            elif isinstance(action, Close):
                link = self.links.get(action.connection)
                if link is not None:
                    link.open_there = False
                    self._hang_up(link)
            elif isinstance(action, Write):
                if not self._write(action):
                    self._fence(node)
                    return
                self._for_life(node, self.write_ms, partial(self._written, action.group))
            elif isinstance(action, Load):
                self._for_life(node, self.load_ms, partial(self._load, action.slot))
            else:
                assert isinstance(action, Log)

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

    def _of_consumer(self, name: str, actions: list[ConsumerAction]) -> None:
        application = self.applications[name]
        if application.dead:
            return
        for action in actions:
            self.log.append((self.now, name, action))
            if isinstance(action, Connect):
                self._connect(name, action.address)
            elif isinstance(action, Transmit):
                if application.link is not None:
                    self._to_broker(application.link, action.data)
            elif isinstance(action, Disconnect):
                if application.link is not None:
                    link = application.link
                    self._end_here(link, told=False)
                    if not link.lossy:
                        self._along(link, "there", partial(self._end_there, link, told=True))
            elif isinstance(action, Consume):
                self._consume(name, action)
            elif isinstance(action, Halt):
                application.generation, application.partitions = -1, frozenset()
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
        application.history.append((action.generation, application.partitions))
        for at in action.start:
            owner = self.owners.setdefault((group, action.generation, at), name)
            assert owner == name, f"{owner} and {name} own {at} in generation {action.generation}"

    def _connect(self, name: str, address: Address) -> None:
        link = Link(next(self._links), name, address[1])
        self.applications[name].link = link
        self.links[link.number] = link

        def arrive() -> None:
            broker = self.brokers.get(link.broker)
            if not link.open_here:
                return
            if broker is None:
                self._end_here(link, told=True)
                return
            link.open_there = True
            broker.connected(link.number)
            self._hand(name, link, lambda: self.applications[name].core.connected(self.now))

        self._along(link, "there", arrive)

    def _hand(self, name: str, link: Link, call: Callable[[], list[ConsumerAction]]) -> None:
        """Something for a consumer, if it still has this connection by then."""
        application = self.applications[name]

        def current() -> list[ConsumerAction]:
            return call() if application.link is link else []

        if application.dead:
            return
        if application.polls:
            self._of_consumer(name, current())
        else:
            application.inbox.append(current)

    def _to_broker(self, link: Link, data: bytes) -> None:
        def arrive() -> None:
            broker = self.brokers.get(link.broker)
            if link.open_there and broker is not None:
                self.promises.asked(link.number, data)
                self._of_broker(link.broker, broker.receive(link.number, data, self.now))

        if not link.lossy:
            self.tapped.append((self.now, link.number, "request", data))
            self._along(link, "there", arrive)

    def _to_consumer(self, link: Link, data: bytes) -> None:
        def arrive() -> None:
            if link.open_here:
                core = self.applications[link.consumer].core
                self._hand(link.consumer, link, lambda: core.receive(data, self.now))

        if not link.lossy:
            self.tapped.append((self.now, link.number, "response", data))
            self._along(link, "here", arrive)

    def _hang_up(self, link: Link) -> None:
        """A broker ends a connection; the consumer hears of it behind what was sent before, if at all."""
        self.tapped.append((self.now, link.number, "response", b""))
        if not link.lossy:
            self._along(link, "here", partial(self._end_here, link, told=True))

    def _end_here(self, link: Link, *, told: bool) -> None:
        if not link.open_here:
            return
        link.open_here = False
        application = self.applications[link.consumer]
        if told:

            def lost() -> list[ConsumerAction]:
                application.link = None
                return application.core.lost(self.now)

            self._hand(link.consumer, link, lost)
        elif application.link is link:
            application.link = None

    def _end_there(self, link: Link, *, told: bool) -> None:
        self.tapped.append((self.now, link.number, "request", b""))
        was_open, link.open_there = link.open_there, False
        self.links.pop(link.number, None)
        broker = self.brokers.get(link.broker)
        if told and was_open and broker is not None:
            self._of_broker(link.broker, broker.closed(link.number, self.now))
