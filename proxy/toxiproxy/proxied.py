"""One proxy of the API: where it listens, whom it reaches, its toxics, and what it is of barnabas."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from barnabas.captures.host_port import host_in, port_in
from barnabas.proxy.control.editing import EMPTY, with_rules
from barnabas.proxy.edits.topology import NOWHERE, Address, Node
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.matching.seeded_random import Roll, seeded_roll
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.endpoint import Endpoint
from barnabas.proxy.network.listeners import Listeners
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.scenario.file import Scenario, ScenarioError, loads
from barnabas.proxy.toxiproxy.addresses import AddressError, resolve, shown, split
from barnabas.proxy.toxiproxy.behaviour import KINDS
from barnabas.proxy.toxiproxy.errors import TOXIC_EXISTS, TOXIC_NOT_FOUND, ApiError
from barnabas.proxy.toxiproxy.layer import ToxicLayer
from barnabas.proxy.toxiproxy.stages import behaviour
from barnabas.proxy.toxiproxy.toxics import KAFKA, STREAMS, Stream, Toxic, created, with_attributes

Make = Callable[["Proxied", Address], Proxy]
"""A proxy of barnabas for one of the API, which is to listen there."""

BY = "toxiproxy's API"


@dataclass(slots=True, eq=False)
class Proxied:
    """A proxy of the API. All methods are for one loop, one at a time."""

    name: str
    listen: str
    upstream: str
    make: Make
    scenario: str = EMPTY
    """The rules that hold beside those of toxics."""
    faults: tuple[Fault, ...] = FAULTS
    enabled: bool = False
    received: Counter[Stream] = field(default_factory=Counter)
    """Bytes that came of each stream."""
    sent: Counter[Stream] = field(default_factory=Counter)
    """Bytes that left."""
    _toxics: dict[Stream, list[Toxic]] = field(
        default_factory=lambda: {"upstream": [], "downstream": []}
    )
    _layers: set[ToxicLayer] = field(default_factory=set)
    _draws: count[int] = field(default_factory=count)
    """How often it was drawn whether toxics act."""
    _proxy: Proxy | None = None

    @property
    def toxics(self) -> list[Toxic]:
        """Those of both streams."""
        return [toxic for stream in STREAMS for toxic in self._toxics[stream]]

    @property
    def target(self) -> Address:
        """The upstream as an address; NOWHERE for a text that is none: nobody is reached then."""
        try:
            host, port = split(self.upstream)
        except AddressError:
            return NOWHERE
        return host_in(host) or "localhost", port_in(port) or 0

    @property
    def address(self) -> Address | None:
        """Where clients find it, if that is known."""
        if self._proxy is not None:
            return self._proxy.address
        try:
            host, port = split(self.listen)
        except AddressError:
            return None
        number = port_in(port)
        return (host, number) if number else None

    @property
    def listeners(self) -> Listeners | None:
        """Its listeners, if it has listened."""
        return None if self._proxy is None else self._proxy.listeners

    def meet(self, node: Node) -> None:
        """The upstream is this node: its id is known from now on."""
        if self.listeners is not None:
            bootstrap = self.listeners.bootstrap
            bootstrap.kind, bootstrap.id = node.kind, node.id

    def shown(self) -> dict[str, Any]:
        """As answers have it."""
        return {
            "name": self.name,
            "listen": self.listen,
            "upstream": self.upstream,
            "enabled": self.enabled,
            "Logger": {},  # so it stands there
            "toxics": [toxic.shown() for toxic in self.toxics],
        }

    # whether it listens

    async def start(self) -> None:
        """Listen. Raises ApiError if that can't be."""
        if self.enabled:
            return
        try:
            place = await resolve(self.listen)
        except AddressError as problem:
            raise ApiError(f"listen tcp: {problem}") from None
        proxy = self._proxy or self.make(self, place)
        try:
            proxy.listen()
        except OSError as problem:
            proxy.stop_listening()
            why = (problem.strerror or str(problem)).lower()
            raise ApiError(f"listen tcp {shown(place)}: bind: {why}") from None
        if self._proxy is None:
            self._proxy = proxy
            proxy.begin()
        self.listen, self.enabled = shown(proxy.address), True

    def wait(self, waits: bool) -> None:
        """Read from no connection until the log has caught up; or go on."""
        if self._proxy is not None:
            self._proxy.wait(waits)

    def stop(self) -> None:
        """Listen no more, and close all connections at once; where it listened it may listen again."""
        self.enabled = False
        if self._proxy is not None:
            self._proxy.stop_listening()
            self._proxy.hang_up()
            for layer in list(self._layers):  # what toxics hold of connections that are over
                layer.abort()

    async def end(self) -> None:
        """Be no more."""
        self.stop()
        if self._proxy is not None:
            await self._proxy.stop()
            self._proxy = None

    async def differs(self, listen: str, upstream: str) -> bool:
        """Whether one with these would be another. Raises ApiError."""
        try:
            place = await resolve(listen)
        except AddressError as problem:
            raise ApiError(str(problem)) from None
        return shown(place) != self.listen or upstream != self.upstream

    async def update(self, listen: str, upstream: str, enabled: bool) -> None:
        """Be as given; a proxy that listens elsewhere, or reaches another, closes its connections.

        Raises ApiError.
        """
        if await self.differs(listen, upstream):
            await self.end()
            self.listen, self.upstream = listen, upstream
        if enabled:
            await self.start()
        elif self.enabled:
            self.stop()

    # its toxics

    def toxic(self, name: str) -> Toxic:
        """One of them. Raises ApiError."""
        for toxic in self.toxics:
            if toxic.name == name:
                return toxic
        raise ApiError(*TOXIC_NOT_FOUND)

    def add(self, body: bytes) -> Toxic:
        """Another one, behind the others of its stream. Raises ApiError."""
        toxic = created(body)
        if any(other.name == toxic.name for other in self.toxics):
            raise ApiError(*TOXIC_EXISTS)
        toxic = with_attributes(toxic, body)
        self._rule([*self.toxics, toxic], toxic)
        self._toxics[toxic.direction].append(toxic)
        for layer in self._of(toxic):
            layer.add(toxic.name, behaviour(toxic, self._roll(toxic, layer.number), clock()))
        return toxic

    def change(self, name: str, body: bytes) -> Toxic:
        """One of them has other attributes. Raises ApiError."""
        old = self.toxic(name)
        toxic = with_attributes(old, body)
        self._rule([toxic if each is old else each for each in self.toxics], toxic)
        found = self._toxics[toxic.direction]
        found[found.index(old)] = toxic
        for layer in self._of(toxic):
            layer.update(name, behaviour(toxic, self._roll(toxic, layer.number), clock()))
        return toxic

    def remove(self, name: str) -> None:
        """One of them less. Raises ApiError."""
        self._remove(self.toxic(name))

    def reset(self) -> None:
        """All of them less."""
        self._remove(*self.toxics)

    def _remove(self, *toxics: Toxic) -> None:
        for toxic in toxics:
            self._toxics[toxic.direction].remove(toxic)
        self._rule(self.toxics, *toxics)
        for toxic in toxics:
            for layer in self._of(toxic):
                layer.remove(toxic.name)

    def _of(self, toxic: Toxic) -> list[ToxicLayer]:
        """Where a toxic acts, if it is about bytes."""
        if toxic.type not in KINDS:
            return []
        return [layer for layer in self._layers if layer.stream == toxic.direction]

    def _roll(self, toxic: Toxic, connection: int) -> Roll:
        return seeded_roll(0, toxic.name, (self.name, connection, next(self._draws)))

    # the proxy that it is

    def layer(self, endpoint: Endpoint) -> ToxicLayer:
        """What lies between an endpoint of a new connection and its socket."""
        return ToxicLayer(
            endpoint,
            received=self._count(self.received),
            sent=self._count(self.sent),
            begun=self._begin,
            over=self._layers.discard,
        )

    def _begin(self, layer: ToxicLayer) -> None:
        """A layer has its socket."""
        self._layers.add(layer)
        for toxic in filter(lambda each: each.type in KINDS, self._toxics[layer.stream]):
            layer.add(toxic.name, behaviour(toxic, self._roll(toxic, layer.number), clock()))

    @staticmethod
    def _count(counts: Counter[Stream]) -> Callable[[Stream, int], None]:
        def add(stream: Stream, bytes_: int) -> None:
            counts[stream] += bytes_

        return add

    def rules(self) -> Scenario:
        """The rules of its toxics, behind those that hold anyway. Raises ScenarioError."""
        return self._scenario(self.toxics)

    def _scenario(self, toxics: list[Toxic]) -> Scenario:
        rules = [json.dumps(_rule(toxic)) for toxic in toxics if toxic.type == KAFKA]
        return loads(with_rules(self.scenario, rules, self.faults), faults=self.faults)

    def _rule(self, toxics: list[Toxic], *changed: Toxic) -> None:
        """Put all connections under the rules of these toxics, if they have changed. Raises ApiError."""
        if all(toxic.type != KAFKA for toxic in changed):
            return
        try:
            scenario = self._scenario(toxics)
        except ScenarioError as problem:
            raise ApiError("; ".join(problem.problems), 400) from None
        if self._proxy is not None:
            self._proxy.replace(scenario, BY)


def _rule(toxic: Toxic) -> dict[str, Any]:
    """The rule of a toxic of Kafka; its toxicity is the rule's probability, unless that has its own."""
    rule = {"name": toxic.name, **toxic.attributes["rule"]}
    if toxic.toxicity < 1:
        when = rule.get("when")
        if when is None or (isinstance(when, dict) and "probability" not in when):
            rule["when"] = {**(when or {}), "probability": max(toxic.toxicity, 0.0)}
    return rule
