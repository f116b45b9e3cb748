"""A worker: connects the clients that the supervisor hands over, until the supervisor ends it."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from barnabas.loop import run
from barnabas.proxy.connection.shared_state import Ordinal
from barnabas.proxy.control.local_target import LocalTarget
from barnabas.proxy.edits.topology import Address, Node, NoPort, Topology
from barnabas.proxy.network.listeners import listener_note
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.rules.rule import Rule
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import Scenario, loads
from barnabas.proxy.workers.channel import serve
from barnabas.proxy.workers.handover import handed
from barnabas.proxy.workers.supervisor_requests import request


class Channels(NamedTuple):
    """One side's ends of the channels between a worker and the supervisor."""

    clients: socket.socket
    requests: Connection
    calls: socket.socket

    @property
    def descriptors(self) -> list[int]:
        """Return the descriptors of the channels."""
        return [end.fileno() for end in self]


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The objects that a worker's proxy gets from the supervisor."""

    rules: Rules
    topology: Topology
    ordinal: Ordinal
    changed: Callable[[int], None]
    """Receives the number of open connections."""


class Worker:
    """A worker process. `make` makes its proxy; for `took` and `opened` see `Loads`."""

    def __init__(
        self,
        ends: Channels,
        scenario: Scenario | None,
        began: int | None,
        make: Callable[[WorkerContext], Proxy],
        took: Callable[[], None],
        opened: Callable[[int], None],
    ) -> None:
        self._ends = ends
        self._took = took
        self._ask = partial(request, ends.requests)
        rules = Rules(scenario)
        rules.began = began
        rules.claim = self._claim
        self.topology = Topology(self._listen, self._moved, self._missing)
        context = WorkerContext(rules, self.topology, partial(self._ask, "ordinal"), opened)
        self.proxy = make(context)
        self._target = LocalTarget(self.proxy)
        self._adopting = asyncio.Lock()

    def run(self) -> None:
        """Run until the supervisor ends its calls."""
        run(self._main())

    async def _main(self) -> None:
        self.proxy.begin()
        asyncio.get_running_loop().add_reader(self._ends.clients, self._take)
        await serve(self._ends.calls, self._method)

    def _method(self, name: str) -> Callable[..., Any]:
        methods: dict[str, Callable[..., Any]] = {
            "adopt": self._adopt,
            "arm": self._arm,
            "drain": self.proxy.drain,
            "hurry": self.proxy.hurry,
            "note": self.proxy.note,
            "release": self.proxy.let_go,
        }
        return methods.get(name) or getattr(self._target, name)

    def _take(self) -> None:
        for client in handed(self._ends.clients, self._refuse_without_descriptor):
            self._took()
            self.topology.meet(client.node)
            self.proxy.take(client)

    def _refuse_without_descriptor(self, name: str) -> None:
        self._took()
        reason = os.strerror(errno.EMFILE)
        self.proxy.turned_away(name, reason, reason)

    async def _adopt(self, text: str, began: int) -> None:
        """Put all connections under another scenario, see `Proxy.adopt`.

        It comes as text, since functions of a user's fault cannot always be pickled.
        """
        async with self._adopting:  # or a later one may be read sooner
            scenario = await asyncio.to_thread(loads, text, faults=self.proxy.options.faults)
            self.proxy.adopt(scenario, began)

    def _arm(self, rule: str, times: int) -> None:
        """Set how many next matches of a rule fire, in whichever worker they occur."""
        self.proxy.rules.rule(rule).forced = times

    def _claim(self, rule: Rule) -> bool:
        granted, rule.forced = self._ask("claim", rule.name)
        return bool(granted)

    def _listen(self, node: Node) -> Address:
        address = self._moved(node)
        self.proxy.note(listener_note(node, address, self.proxy.options))
        return address

    def _moved(self, node: Node) -> Address:
        try:
            node.listen = self._ask("listen", node.kind, node.id, node.upstream)
        except OSError as problem:
            raise NoPort(str(problem)) from None
        return node.listen

    def _missing(self, id: int) -> Node | None:
        node: Node | None = self._ask("broker", id)
        if node is not None:
            self.topology.meet(node)
        return node
