"""Brokers and consumers of a design on a virtual clock: a network that delays, loses and cuts."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from barnabas.designs.brokers.listener import Close, Log, Send
from barnabas.designs.brokers.registry import MemoryElector, MemoryRegistry
from barnabas.designs.consuming.dialer import Connect, Disconnect, Transmit
from tests.designs.virtual_design import AnyLink, App, Design
from tests.designs.wire_tap import Tapped

BUSY = 1_000
"""So many things in the same millisecond are a loop."""


class Network(Design[App, AnyLink]):
    """The network, the clock, the registry, and everybody on them. Times are ms."""

    def __init__(self, electors: dict[int, MemoryElector]) -> None:
        self.now = 0
        self.latency = 1
        self.registry = MemoryRegistry()
        self.electors = electors
        self.brokers: dict[int, Any] = {}
        """None: it is dead."""
        self.applications: dict[str, App] = {}
        self.links: dict[int, AnyLink] = {}
        self.log: list[tuple[int, str, object]] = []
        self.tapped: Tapped = []
        self.crash_before: Callable[[int, Any], bool] = lambda broker, action: False
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._links = itertools.count()

    def gather(self, names: Iterable[str], **options: object) -> None:
        """Start consumers, each when all is well with those before."""
        for name in names:
            self.add(name, **options)
            self.until(self.settled)

    def crash(self, node: int) -> None:
        """A broker dies: its connections end, and others are elected."""
        if self.brokers[node] is None:
            return
        self.brokers[node] = None
        self._died(node)
        for link in [one for one in self.links.values() if one.broker == node]:
            self._end_there(link, told=False)
            self._hang_up(link)
        for elector in self.electors.values():
            elector.leave(node)
        self.elect()

    def kill(self, name: str) -> None:
        """A consumer dies without a word; its connection is reset."""
        application = self.applications[name]
        application.dead = True
        application.halt()
        if application.link is not None:
            self.cut(application.link)

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

    def cut(self, link: AnyLink) -> None:
        """Reset a connection; both sides hear of it."""
        self._end_here(link, told=True)
        self._end_there(link, told=True)

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

    def until(self, condition: Callable[[], bool], limit: int = 10_000) -> int:
        """Let time pass until something is so; returns how long that took. Raises AssertionError."""
        began = self.now
        while not condition():
            assert self.now - began < limit, f"not within {limit} ms: {self.summary()}"
            self.run(1)
        return self.now - began

    def living(self, group: str) -> list[App]:
        """The applications of a group that live and poll."""
        return [
            one
            for one in self.applications.values()
            if not one.dead and one.polls and one.core.settings.group_id == group
        ]

    def _happen(self) -> None:
        heapq.heappop(self._events)[2]()

    def _tick(self, node: int) -> None:
        self._of_broker(node, self.brokers[node].tick(self.now))

    def _later(self, ms: int, call: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + ms, next(self._order), call))

    def _along(self, link: AnyLink, to: str, call: Callable[[], None]) -> None:
        """Over a connection: nothing overtakes what was sent before, even if the latency has changed."""
        at = link.latest[to] = max(self.now + self.latency, link.latest[to])
        heapq.heappush(self._events, (at, next(self._order), call))

    def _of_broker(self, node: int, actions: list[Any]) -> None:
        """Carry out what a broker wants, unless it dies before."""
        for action in actions:
            if self.brokers[node] is None:
                return
            if self._postpones(node, action):
                continue
            if self.crash_before(node, action):
                self.crash(node)
                return
            self.log.append((self.now, f"broker {node}", action))
            if isinstance(action, Send | Close):
                link = self.links.get(action.connection)
                if isinstance(action, Send):
                    self._sends(node, action, link)
                    if link is not None:
                        self._to_consumer(link, action.data)
                elif link is not None:
                    link.open_there = False
                    self._hang_up(link)
            elif not isinstance(action, Log) and not self._asks(node, action):
                return

    def _of_consumer(self, name: str, actions: list[Any]) -> None:
        application = self.applications[name]
        if application.dead:
            return
        for action in actions:
            self.log.append((self.now, name, action))
            link = application.link
            if isinstance(action, Connect):
                self._connect(name, action.address[1])
            elif isinstance(action, Transmit):
                if link is not None:
                    self._to_broker(link, action.data)
            elif isinstance(action, Disconnect):
                if link is not None:
                    self._end_here(link, told=False)
                    if not link.lossy:
                        self._along(link, "there", partial(self._end_there, link, told=True))
            else:
                self._does(name, application, action)

    def _connect(self, name: str, node: int) -> None:
        link = self.make_link(next(self._links), name, node)
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

    def _hand(self, name: str, link: AnyLink, call: Callable[[], list[Any]]) -> None:
        """Something for a consumer, if it still has this connection by then."""
        application = self.applications[name]

        def current() -> list[Any]:
            if application.link is not link:
                return []
            self._reached(application)
            return call()

        if application.dead:
            return
        if application.polls:
            self._of_consumer(name, current())
        else:
            application.inbox.append(current)

    def _to_broker(self, link: AnyLink, data: bytes) -> None:
        def arrive() -> None:
            broker = self.brokers.get(link.broker)
            if link.open_there and broker is not None:
                self._arrives(link, data)
                self._of_broker(link.broker, broker.receive(link.number, data, self.now))

        if not link.lossy:
            self.tapped.append((self.now, link.number, "request", data))
            self._along(link, "there", arrive)

    def _to_consumer(self, link: AnyLink, data: bytes) -> None:
        def arrive() -> None:
            if link.open_here:
                core = self.applications[link.consumer].core
                self._hand(link.consumer, link, lambda: core.receive(data, self.now))

        if not link.lossy:
            self.tapped.append((self.now, link.number, "response", data))
            self._along(link, "here", arrive)

    def _hang_up(self, link: AnyLink) -> None:
        """A broker ends a connection; the consumer hears of it behind what was sent before, if at all."""
        self.tapped.append((self.now, link.number, "response", b""))
        if not link.lossy:
            self._along(link, "here", partial(self._end_here, link, told=True))

    def _end_here(self, link: AnyLink, *, told: bool) -> None:
        if not link.open_here:
            return
        link.open_here = False
        application = self.applications[link.consumer]
        if told:

            def lost() -> list[Any]:
                application.link = None
                found: list[Any] = application.core.lost(self.now)
                return found

            self._hand(link.consumer, link, lost)
        elif application.link is link:
            application.link = None

    def _end_there(self, link: AnyLink, *, told: bool) -> None:
        self.tapped.append((self.now, link.number, "request", b""))
        was_open, link.open_there = link.open_there, False
        self.links.pop(link.number, None)
        broker = self.brokers.get(link.broker)
        if told and was_open and broker is not None:
            self._of_broker(link.broker, broker.closed(link.number, self.now))
