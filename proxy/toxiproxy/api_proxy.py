"""One proxy of the API: its listener, its upstream, its toxics, and its proxy of barnabas."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from barnabas.captures.host_port import host_in, port_in
from barnabas.proxy.control.scenario_edits import EMPTY, with_rules
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

Make = Callable[["ApiProxy", Address], Proxy]
"""Makes the proxy of barnabas for one of the API, with the address to listen on."""

BY = "toxiproxy's API"


@dataclass(slots=True, eq=False)
class ApiProxy:
    """A proxy of the API. All methods belong to one loop and run one at a time."""

    name: str
    listen: str
    upstream: str
    make: Make
    scenario: str = EMPTY
    """The rules in force in addition to those of toxics."""
    faults: tuple[Fault, ...] = FAULTS
    enabled: bool = False
    received: Counter[Stream] = field(default_factory=Counter)
    """The bytes that arrived, by stream."""
    sent: Counter[Stream] = field(default_factory=Counter)
    """The bytes that left, by stream."""
    _toxics: dict[Stream, list[Toxic]] = field(
        default_factory=lambda: {"upstream": [], "downstream": []}
    )
    _layers: set[ToxicLayer] = field(default_factory=set)
    _draws: count[int] = field(default_factory=count)
    """The number of random decisions whether toxics act."""
    _proxy: Proxy | None = None

    @property
    def toxics(self) -> list[Toxic]:
        """Return the toxics of both streams."""
        return [toxic for stream in STREAMS for toxic in self._toxics[stream]]

    @property
    def target(self) -> Address:
        """Return the upstream's address; NOWHERE for an invalid text, which no connection can reach."""
        try:
            host, port = split(self.upstream)
        except AddressError:
            return NOWHERE
        return host_in(host) or "localhost", port_in(port) or 0

    @property
    def address(self) -> Address | None:
        """Return the address at which clients find the proxy, if it is known."""
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
        """Return the proxy's listeners, if it has been started."""
        return None if self._proxy is None else self._proxy.listeners

    def meet(self, node: Node) -> None:
        """Set the kind and the id of the upstream, which is this node."""
        if self.listeners is not None:
            bootstrap = self.listeners.bootstrap
            bootstrap.kind, bootstrap.id = node.kind, node.id

    def shown(self) -> dict[str, Any]:
        """Return the proxy as responses show it."""
        return {
            "name": self.name,
            "listen": self.listen,
            "upstream": self.upstream,
            "enabled": self.enabled,
            "Logger": {},  # so it stands there
            "toxics": [toxic.shown() for toxic in self.toxics],
        }

    # start and stop

    async def start(self) -> None:
        """Listen.

        Raises:
            ApiError: The address is invalid or unavailable.
        """
        if self.enabled:
            return
        try:
            address = await resolve(self.listen)
        except AddressError as problem:
            raise ApiError(f"listen tcp: {problem}") from None
        proxy = self._proxy or self.make(self, address)
        try:
            proxy.listen()
        except OSError as problem:
            proxy.stop_listening()
            reason = (problem.strerror or str(problem)).lower()
            raise ApiError(f"listen tcp {shown(address)}: bind: {reason}") from None
        if self._proxy is None:
            self._proxy = proxy
            proxy.begin()
        self.listen, self.enabled = shown(proxy.address), True

    def wait(self, waits: bool) -> None:
        """Stop reading from all connections until the log has caught up, or continue."""
        if self._proxy is not None:
            self._proxy.wait(waits)

    def stop(self) -> None:
        """Stop listening and close all connections at once; the proxy may be started again."""
        self.enabled = False
        if self._proxy is not None:
            self._proxy.stop_listening()
            self._proxy.hang_up()
            for layer in list(self._layers):  # pieces that toxics hold for closed connections
                layer.abort()

    async def end(self) -> None:
        """Stop for good."""
        self.stop()
        if self._proxy is not None:
            await self._proxy.stop()
            self._proxy = None

    async def differs(self, listen: str, upstream: str) -> bool:
        """Return whether these addresses are not the proxy's own.

        Raises:
            ApiError: An address is invalid.
        """
        try:
            address = await resolve(listen)
        except AddressError as problem:
            raise ApiError(str(problem)) from None
        return shown(address) != self.listen or upstream != self.upstream

    async def update(self, listen: str, upstream: str, enabled: bool) -> None:
        """Change the settings; another listener or upstream closes all connections.

        Raises:
            ApiError: An address is invalid or unavailable.
        """
        if await self.differs(listen, upstream):
            await self.end()
            self.listen, self.upstream = listen, upstream
        if enabled:
            await self.start()
        elif self.enabled:
            self.stop()

    # toxics

    def toxic(self, name: str) -> Toxic:
        """Return a toxic by its name.

        Raises:
            ApiError: There is no such toxic.
        """
        for toxic in self.toxics:
            if toxic.name == name:
                return toxic
        raise ApiError(*TOXIC_NOT_FOUND)

    def add(self, body: bytes) -> Toxic:
        """Add a toxic after the others of its stream.

        Raises:
            ApiError: The body is invalid, or the name is taken.
        """
        toxic = created(body)
        if any(other.name == toxic.name for other in self.toxics):
            raise ApiError(*TOXIC_EXISTS)
        toxic = with_attributes(toxic, body)
        self._rule([*self.toxics, toxic], toxic)
        self._toxics[toxic.direction].append(toxic)
        for layer in self._layers_of(toxic):
            layer.add(toxic.name, behaviour(toxic, self._roll(toxic, layer.number), clock()))
        return toxic

    def change(self, name: str, body: bytes) -> Toxic:
        """Change the attributes of a toxic.

        Raises:
            ApiError: The body is invalid, or there is no such toxic.
        """
        old = self.toxic(name)
        toxic = with_attributes(old, body)
        self._rule([toxic if each is old else each for each in self.toxics], toxic)
        toxics = self._toxics[toxic.direction]
        toxics[toxics.index(old)] = toxic
        for layer in self._layers_of(toxic):
            layer.update(name, behaviour(toxic, self._roll(toxic, layer.number), clock()))
        return toxic

    def remove(self, name: str) -> None:
        """Remove a toxic.

        Raises:
            ApiError: There is no such toxic.
        """
        self._remove(self.toxic(name))

    def reset(self) -> None:
        """Remove all toxics."""
        self._remove(*self.toxics)

    def _remove(self, *toxics: Toxic) -> None:
        for toxic in toxics:
            self._toxics[toxic.direction].remove(toxic)
        self._rule(self.toxics, *toxics)
        for toxic in toxics:
            for layer in self._layers_of(toxic):
                layer.remove(toxic.name)

    def _layers_of(self, toxic: Toxic) -> list[ToxicLayer]:
        """Return the layers in which a toxic acts; none for `kafka`."""
        if toxic.type not in KINDS:
            return []
        return [layer for layer in self._layers if layer.stream == toxic.direction]

    def _roll(self, toxic: Toxic, connection: int) -> Roll:
        return seeded_roll(0, toxic.name, (self.name, connection, next(self._draws)))

    # the proxy of barnabas

    def layer(self, endpoint: Endpoint) -> ToxicLayer:
        """Return the layer between an endpoint of a new connection and its socket."""
        return ToxicLayer(
            endpoint,
            received=self._count(self.received),
            sent=self._count(self.sent),
            begun=self._begin,
            over=self._layers.discard,
        )

    def _begin(self, layer: ToxicLayer) -> None:
        """Add a layer that has its socket, with the toxics of its stream."""
        self._layers.add(layer)
        for toxic in filter(lambda each: each.type in KINDS, self._toxics[layer.stream]):
            layer.add(toxic.name, behaviour(toxic, self._roll(toxic, layer.number), clock()))

    @staticmethod
    def _count(counts: Counter[Stream]) -> Callable[[Stream, int], None]:
        def add(stream: Stream, bytes_: int) -> None:
            counts[stream] += bytes_

        return add

    def rules(self) -> Scenario:
        """Return the scenario with the rules of the toxics after its own.

        Raises:
            ScenarioError: A rule is invalid.
        """
        return self._scenario(self.toxics)

    def _scenario(self, toxics: list[Toxic]) -> Scenario:
        rules = [json.dumps(_rule(toxic)) for toxic in toxics if toxic.type == KAFKA]
        return loads(with_rules(self.scenario, rules, self.faults), faults=self.faults)

    def _rule(self, toxics: list[Toxic], *changed: Toxic) -> None:
        """Put all connections under the rules of these toxics, if they have changed.

        Raises ApiError.
        """
        if all(toxic.type != KAFKA for toxic in changed):
            return
        try:
            scenario = self._scenario(toxics)
        except ScenarioError as problem:
            raise ApiError("; ".join(problem.problems), 400) from None
        if self._proxy is not None:
            self._proxy.replace(scenario, BY)


def _rule(toxic: Toxic) -> dict[str, Any]:
    """Return the rule of a `kafka` toxic.

    The toxicity is the rule's probability, unless the rule has its own.
    """
    rule = {"name": toxic.name, **toxic.attributes["rule"]}
    if toxic.toxicity < 1:
        when = rule.get("when")
        if when is None or (isinstance(when, dict) and "probability" not in when):
            rule["when"] = {**(when or {}), "probability": max(toxic.toxicity, 0.0)}
    return rule
