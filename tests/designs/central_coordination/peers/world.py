"""A coordinator (one of several brokers) and consumers of document 001 on a virtual clock.

What may never happen (`promises`) is checked as it happens.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import partial

from barnabas.designs.brokers.listener import Log, Send
from barnabas.designs.brokers.registry import MemoryElector
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
from barnabas.specs.malformed import Malformed
from tests.designs import virtual_design
from tests.designs.central_coordination.peers.promises import Promises, one_fetches
from tests.designs.virtual_network import Network

SETTINGS = BrokerSettings(min_session_timeout_ms=100, rebalance_threads=2)


@dataclass
class Link(virtual_design.Link):
    """A connection of a consumer to a broker."""

    term: int = 0
    """The election that the broker's last start-fetcher on it came from."""
    asked: deque[str] = field(default_factory=deque)
    """What the coordinator has asked on it, and has no answer to."""
    owns: set[Partition] = field(default_factory=set)
    """What its last start-fetcher gave."""


@dataclass
class Application(virtual_design.Application):
    """What stands around a consumer."""

    core: Consumer
    fetching: bool = False
    starts: int = 0
    term: int = 0
    """Of the coordinator that has started its fetchers."""

    def halt(self) -> None:
        self.fetching = False

    @property
    def owns(self) -> set[Partition]:
        return set(self.core.positions) if self.fetching else set()


class World(Network[Application, Link]):
    """The network, the clock, the registry, and everybody on them. Times are ms."""

    brokers: dict[int, Broker | None]
    make_link = Link

    def __init__(self, brokers: int = 2, topics: dict[str, tuple[str, ...]] | None = None) -> None:
        self.elector = MemoryElector()
        super().__init__({0: self.elector})
        self.reading = 1
        """How long offsets are read from the registry, ..."""
        self.slow: dict[str, int] = {}
        """... and those of some groups."""
        self.topics = {"t": ("0-0", "0-1", "1-0", "1-1")} if topics is None else topics
        self.promises = Promises()
        self.consumes = False
        """Whether consumers consume a record of each of their partitions whenever something reaches them."""
        self._waiting: dict[tuple[int, str], list[StoreOffsets | ReadOffsets]] = {}
        """What a broker asks of the registry when it has read the offsets of a group, for that one."""
        for node in range(1, brokers + 1):
            self.boot(node)

    def boot(self, node: int) -> None:
        self.brokers[node] = Broker(node, SETTINGS)
        self.elector.enter(node)
        self.elect()

    def resign(self) -> None:
        """The coordinator's session in the registry ends; it hears of it."""
        leader = self.elector.leader()
        if leader is None:
            return
        self.elector.leave(leader.candidate)
        self._died(leader.candidate)
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

    def grow(self, topic: str, *partitions: str) -> None:
        """A topic has these partitions, too."""
        self.topics = self.topics | {topic: (*self.topics.get(topic, ()), *partitions)}
        for node, broker in self.brokers.items():
            if broker is not None and broker.coordinates:
                self._of_broker(node, broker.topics(self.topics, self.now))

    def settled(self, group: str = "g") -> bool:
        """Whether the consumers that live own each partition of their topics once."""
        living = self.living(group)
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

    def _poll(self, name: str) -> None:
        self._of_consumer(name, self.applications[name].core.tick(self.now))

    def _postpones(self, node: int, action: BrokerAction) -> bool:
        if not isinstance(action, StoreOffsets | ReadOffsets):
            return False
        behind = self._waiting.get((node, action.group))
        if behind is not None:
            behind.append(action)
        return behind is not None

    def _of_broker(self, node: int, actions: list[BrokerAction]) -> None:
        super()._of_broker(node, actions)
        broker = self.brokers[node]
        if broker is not None and broker.coordinates:
            self.promises.forget(set(self.promises.reported) - broker.groups.keys())

    def _sends(self, node: int, action: Send, link: Link | None) -> None:
        """A frame of a broker: the coordinator asks, unless it answers."""
        try:
            api, _ = read_request(action.data[4:])
        except Malformed:
            return
        if link is not None and api in ("Ping", "StopFetcher", "StartFetcher"):
            link.asked.append(api)

    def _asks(self, node: int, action: StoreOffsets | ReadOffsets) -> bool:
        if isinstance(action, StoreOffsets):
            store(self.registry, action.group, action.offsets)
            self.promises.store(action.group, load(self.registry, action.group))
        else:
            waits: list[StoreOffsets | ReadOffsets] = []
            self._waiting[node, action.group] = waits
            ms = self.slow.get(action.group, self.reading)
            self._later(ms, partial(self._read, node, waits, action))
        return True

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

    def _died(self, node: int) -> None:
        """What a broker waits for is no longer its own."""
        for key in [key for key in self._waiting if key[0] == node]:
            del self._waiting[key]
        self.promises.forget(list(self.promises.reported))

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

    def _does(self, name: str, application: Application, action: ConsumerAction) -> None:
        if isinstance(action, StartFetchers):
            application.fetching, application.starts = True, application.starts + 1
            for at, offset in action.start.items():
                application.core.positions[at] = 0 if offset == NOWHERE else offset
            assert application.link is not None
            application.term = application.link.term
            self._one_fetches(application.core.settings.group_id, application.term)
        elif not isinstance(action, Log):
            assert isinstance(action, StopFetchers)
            application.halt()

    def _reached(self, application: Application) -> None:
        for at in application.owns if self.consumes else ():
            application.core.positions[at] += 1

    def _one_fetches(self, group: str, term: int) -> None:
        """Of those whom one coordinator has started: nothing fences the one before."""
        one_fetches(
            (name, one.owns)
            for name, one in self.applications.items()
            if not one.dead
            and one.polls
            and (one.core.settings.group_id, one.term) == (group, term)
        )

    def _arrives(self, link: Link, data: bytes) -> None:
        """What a consumer says of the partitions that it owns, it says to its coordinator."""
        api = link.asked.popleft() if link.asked else ""
        settings = self.applications[link.consumer].core.settings
        if api == "StopFetcher" and settings.auto_commit:
            _, body = read_response(data[4:], api)
            rows = {(one["topic"], one["partition"]): one["offset"] for one in body["offset_info"]}
            own = {at: offset for at, offset in rows.items() if at in link.owns}
            self.promises.report(settings.group_id, own)
