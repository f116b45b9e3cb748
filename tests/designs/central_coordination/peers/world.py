"""A coordinator (one of several brokers) and consumers of document 001 on a virtual clock.

What may never happen (`promises`) is checked as it happens.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from barnabas.designs.brokers.listener import Close, Log, Send
from barnabas.designs.brokers.registry import MemoryElector, MemoryRegistry
from barnabas.designs.central_coordination.peers.actions import (
    BrokerAction,
    ConsumerAction,
    ReadOffsets,
    StartFetchers,
    StopFetchers,
    StoreOffsets,
)
from barnabas.designs.central_coordination.peers.consumer import NOWHERE, Consumer
from barnabas.designs.central_coordination.peers.coordinator import Broker
from barnabas.designs.central_coordination.peers.interest import Partition, parse
from barnabas.designs.central_coordination.peers.offsets import load, store
from barnabas.designs.central_coordination.peers.settings import BrokerSettings, ConsumerSettings
from barnabas.designs.central_coordination.peers.wire import read_request, read_response
from barnabas.designs.consuming.dialer import Connect, Disconnect, Transmit
from barnabas.specs.malformed import Malformed
from tests.designs.central_coordination.peers.promises import Promises, one_fetches
from tests.peers.wire_tap import Tapped

SETTINGS = BrokerSettings(min_session_timeout_ms=100, rebalance_threads=2)

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
    term: int = 0
    """The election that the broker's last start-fetcher on it came from."""
    latest: dict[str, int] = field(default_factory=lambda: {"here": 0, "there": 0})
    """When what was last sent arrives at the consumer (here) and at the broker (there)."""
    lossy: bool = False
    asked: deque[str] = field(default_factory=deque)
    """What the coordinator has asked on it, and has no answer to."""
    owns: set[Partition] = field(default_factory=set)
    """What its last start-fetcher gave."""


@dataclass
class Application:
    """What stands around a consumer."""

    core: Consumer
    polls: bool = True
    dead: bool = False
    link: Link | None = None
    fetching: bool = False
    starts: int = 0
    term: int = 0
    """Of the coordinator that has started its fetchers."""
    inbox: list[Callable[[], list[ConsumerAction]]] = field(default_factory=list)

    @property
    def owns(self) -> set[Partition]:
        return set(self.core.positions) if self.fetching else set()


class World:
    """The network, the clock, the registry, and everybody on them. Times are ms."""

    def __init__(self, brokers: int = 2, topics: dict[str, tuple[str, ...]] | None = None) -> None:
        self.now = 0
        self.latency = 1
        self.reading = 1
        """How long offsets are read from the registry, ..."""
        self.slow: dict[str, int] = {}
        """... and those of some groups."""
        self.elector = MemoryElector()
        self.topics = {"t": ("0-0", "0-1", "1-0", "1-1")} if topics is None else topics
        self.brokers: dict[int, Broker | None] = {}
        self.applications: dict[str, Application] = {}
        self.links: dict[int, Link] = {}
        self.registry = MemoryRegistry()
        self.promises = Promises()
        self.consumes = False
        """Whether consumers consume a record of each of their partitions whenever something reaches them."""
        self.log: list[tuple[int, str, object]] = []
        self.tapped: Tapped = []
        self.crash_before: Callable[[int, BrokerAction], bool] = lambda broker, action: False
        self._waiting: dict[tuple[int, str], list[StoreOffsets | ReadOffsets]] = {}
        """What a broker asks of the registry when it has read the offsets of a group, for that one."""
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._links = itertools.count()
        for node in range(1, brokers + 1):
            self.boot(node)

    def boot(self, node: int) -> None:
        self.brokers[node] = Broker(node, SETTINGS)
        self.elector.enter(node)
        self.elect()

    def crash(self, node: int) -> None:
        if self.brokers[node] is None:
            return
        self.brokers[node] = None
        self._forget(node)
        self.promises.forget(list(self.promises.reported))
        for link in [one for one in self.links.values() if one.broker == node]:
            self._end_there(link, told=False)
            self._hang_up(link)
        self.elector.leave(node)
        self.elect()

    def resign(self) -> None:
        """The coordinator's session in the registry ends; it hears of it."""
        leader = self.elector.leader()
        if leader is None:
            return
        self.elector.leave(leader.candidate)
        self._forget(leader.candidate)
        self.promises.forget(list(self.promises.reported))
        broker = self.brokers[leader.candidate]
        if broker is not None:
            self._of_broker(leader.candidate, broker.resigned())
        self.elector.enter(leader.candidate)
        self.elect()

    def elect(self) -> None:
        leader = self.elector.leader()
        nodes = {n: ("broker", n) for n, broker in self.brokers.items() if broker is not None}
        for node, broker in self.brokers.items():
            if broker is None:
                continue
            broker.cluster(nodes, -1 if leader is None else leader.candidate)
            if leader is not None and leader.candidate == node and not broker.coordinates:
                self._of_broker(node, broker.elected(self.topics, self.now))

    @property
    def coordinator(self) -> Broker:
        leader = self.elector.leader()
        assert leader is not None
        broker = self.brokers[leader.candidate]
        assert broker is not None
        return broker

    def add(self, name: str, **options: object) -> Application:
        defaults: dict[str, object] = {
            "group_id": "g",
            "consumer_id": name,
            "bootstrap": tuple(("broker", node) for node in self.brokers),
            "session_timeout_ms": 300,
            "request_timeout_ms": 200,
            "backoff_ms": 20,
        }
        core = Consumer(ConsumerSettings(**(defaults | options)))  # type: ignore[arg-type]
        application = self.applications[name] = Application(core)
        self._of_consumer(name, core.start(self.now))
        return application

    def kill(self, name: str) -> None:
        application = self.applications[name]
        application.dead, application.fetching = True, False
        if application.link is not None:
            self.cut(application.link)

    def pause(self, name: str) -> None:
        self.applications[name].polls = False

    def resume(self, name: str) -> None:
        application = self.applications[name]
        application.polls = True
        inbox, application.inbox = application.inbox, []
        for call in inbox:
            self._of_consumer(name, call())
        self._of_consumer(name, application.core.tick(self.now))

    def grow(self, topic: str, *partitions: str) -> None:
        """A topic has these partitions, too."""
        self.topics = self.topics | {topic: (*self.topics.get(topic, ()), *partitions)}
        for node, broker in self.brokers.items():
            if broker is not None and broker.coordinates:
                self._of_broker(node, broker.topics(self.topics, self.now))

    def cut(self, link: Link) -> None:
        self._end_here(link, told=True)
        self._end_there(link, told=True)

    def run(self, ms: int) -> None:
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

    def until(self, condition: Callable[[], bool], limit: int = 10_000) -> int:
        began = self.now
        while not condition():
            assert self.now - began < limit, f"not within {limit} ms: {self.summary()}"
            self.run(1)
        return self.now - began

    def settled(self, group: str = "g") -> bool:
        """Whether the consumers that live own each partition of their topics once."""
        living = [
            one
            for one in self.applications.values()
            if not one.dead and one.polls and one.core.settings.group_id == group
        ]
        interests = [parse(one.core.settings.topic_count) for one in living]
        wanted = sorted(
            (topic, number)
            for topic, numbers in self.topics.items()
            if any(one.of(topic) for one in interests)
            for number in numbers
        )
        found = self.coordinator.groups.get(group)
        known = set() if found is None else set(found.consumers)
        ready = known == {one.core.settings.consumer_id for one in living}
        ready &= found is None or not found.rebalancing
        return ready and sorted(at for one in living for at in one.owns) == wanted

    def summary(self) -> str:
        rows = [f"{n}: {one.core.state} {sorted(one.owns)}" for n, one in self.applications.items()]
        groups = [
            f"{name}: {group.state} {sorted(group.consumers)}"
            for name, group in self.coordinator.groups.items()
        ]
        return "\n".join([f"at {self.now}", *rows, *groups])

    def _happen(self) -> None:
        heapq.heappop(self._events)[2]()

    def _tick(self, node: int) -> None:
        broker = self.brokers[node]
        assert broker is not None
        self._of_broker(node, broker.tick(self.now))

    def _poll(self, name: str) -> None:
        self._of_consumer(name, self.applications[name].core.tick(self.now))

    def _later(self, ms: int, call: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + ms, next(self._order), call))

    def _along(self, link: Link, to: str, call: Callable[[], None]) -> None:
        """Over a connection: nothing overtakes what was sent before, even if the latency has changed."""
        at = link.latest[to] = max(self.now + self.latency, link.latest[to])
        heapq.heappush(self._events, (at, next(self._order), call))

    def _of_broker(self, node: int, actions: list[BrokerAction]) -> None:
        for action in actions:
            broker = self.brokers[node]
            if broker is None:
                return
            if isinstance(action, StoreOffsets | ReadOffsets):
                behind = self._waiting.get((node, action.group))
                if behind is not None:
                    behind.append(action)
                    continue
            if self.crash_before(node, action):
                self.crash(node)
                return
            self.log.append((self.now, f"broker {node}", action))
            if isinstance(action, Send):
                link = self.links.get(action.connection)
                if link is not None:
                    _note_question(link, action.data)
                    self._to_consumer(link, action.data)
            elif isinstance(action, Close):
                link = self.links.get(action.connection)
                if link is not None:
                    link.open_there = False
                    self._hang_up(link)
            elif isinstance(action, StoreOffsets):
                store(self.registry, action.group, action.offsets)
                self.promises.store(action.group, load(self.registry, action.group))
            elif isinstance(action, ReadOffsets):
                group = action.group
                waits: list[StoreOffsets | ReadOffsets] = []
                self._waiting[node, group] = waits
                ms = self.slow.get(group, self.reading)
                self._later(ms, partial(self._read, node, waits, action))
            else:
                assert isinstance(action, Log)
        broker = self.brokers[node]
        if broker is not None and broker.coordinates:
            self.promises.forget(set(self.promises.reported) - broker.groups.keys())

    def _read(
        self, node: int, behind: list[StoreOffsets | ReadOffsets], asked: ReadOffsets
    ) -> None:
        broker, group = self.brokers[node], asked.group
        if broker is None or self._waiting.get((node, group)) is not behind:
            return  # it is dead, or coordinates no longer
        del self._waiting[node, group]
        actions = broker.offsets(asked, load(self.registry, group), self.now)
        self._hand_out(group, actions)
        self._of_broker(node, [*behind, *actions])

    def _forget(self, node: int) -> None:
        """What a broker waits for is no longer its own."""
        for key in [key for key in self._waiting if key[0] == node]:
            del self._waiting[key]

    def _hand_out(self, group: str, actions: list[BrokerAction]) -> None:
        """What one round of start-fetcher gives out."""
        leader = self.elector.leader()
        assert leader is not None
        given: list[tuple[Partition, int]] = []
        to: list[str] = []
        for action in actions:
            if not isinstance(action, Send):
                continue
            api, body = read_request(action.data[4:])
            if api == "StartFetcher":
                rows = {
                    (one["topic"], one["partition"]): one["offset"] for one in body["offset_info"]
                }
                given += rows.items()
                link = self.links[action.connection]
                link.owns, link.term = set(rows), leader.term
                to.append(link.consumer)
        if to:
            cores = [self.applications[name].core for name in to]
            interests = [parse(core.settings.topic_count) for core in cores]
            at = [core.positions for core in cores if core.settings.auto_commit]
            self.promises.hand_out(group, given, interests, self.topics, at)

    def _of_consumer(self, name: str, actions: list[ConsumerAction]) -> None:
        application = self.applications[name]
        if application.dead:
            return
        for action in actions:
            self.log.append((self.now, name, action))
            if isinstance(action, Connect):
                self._connect(name, action.address[1])
            elif isinstance(action, Transmit):
                if application.link is not None:
                    self._to_broker(application.link, action.data)
            elif isinstance(action, Disconnect):
                if application.link is not None:
                    link = application.link
                    self._end_here(link, told=False)
                    if not link.lossy:
                        self._along(link, "there", partial(self._end_there, link, told=True))
            elif isinstance(action, StartFetchers):
                application.fetching, application.starts = True, application.starts + 1
                for at, offset in action.start.items():
                    application.core.positions[at] = 0 if offset == NOWHERE else offset
                assert application.link is not None
                application.term = application.link.term
                self._one_fetches(application.core.settings.group_id, application.term)
            elif not isinstance(action, Log):
                assert isinstance(action, StopFetchers)
                application.fetching = False

    def _one_fetches(self, group: str, term: int) -> None:
        """Of those whom one coordinator has started: nothing fences the one before."""
        one_fetches(
            (name, one.owns)
            for name, one in self.applications.items()
            if not one.dead
            and one.polls
            and (one.core.settings.group_id, one.term) == (group, term)
        )

    def _connect(self, name: str, node: int) -> None:
        link = Link(next(self._links), name, node)
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
        application = self.applications[name]

        def current() -> list[ConsumerAction]:
            if application.link is not link:
                return []
            for at in application.owns if self.consumes else ():
                application.core.positions[at] += 1
            return call()

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
                self._note_answer(link, data)
                self._of_broker(link.broker, broker.receive(link.number, data, self.now))

        if not link.lossy:
            self.tapped.append((self.now, link.number, "request", data))
            self._along(link, "there", arrive)

    def _note_answer(self, link: Link, data: bytes) -> None:
        """What a consumer says of the partitions that it owns, it says to its coordinator."""
        api = link.asked.popleft() if link.asked else ""
        settings = self.applications[link.consumer].core.settings
        if api == "StopFetcher" and settings.auto_commit:
            _, body = read_response(data[4:], api)
            rows = {(one["topic"], one["partition"]): one["offset"] for one in body["offset_info"]}
            own = {at: offset for at, offset in rows.items() if at in link.owns}
            self.promises.report(settings.group_id, own)

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


def _note_question(link: Link, data: bytes) -> None:
    """A frame of a broker: the coordinator asks, unless it answers."""
    try:
        api, _ = read_request(data[4:])
    except Malformed:
        return
    if api in ("Ping", "StopFetcher", "StartFetcher"):
        link.asked.append(api)
