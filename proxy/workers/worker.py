"""A worker: connects through the clients that the supervisor hands over, until it ends."""

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
from barnabas.proxy.control.local import LocalTarget
from barnabas.proxy.edits.topology import Address, Node, NoPort, Topology
from barnabas.proxy.network.listeners import listener_note
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.rules.rule import Rule
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import Scenario, loads
from barnabas.proxy.workers.channel import serve
from barnabas.proxy.workers.handover import handed
from barnabas.proxy.workers.questions import ask


class Ends(NamedTuple):
    """The ends, of one side, of what is between a worker and the supervisor."""

    clients: socket.socket
    questions: Connection
    calls: socket.socket

    @property
    def descriptors(self) -> list[int]:
        """Their descriptors."""
        return [end.fileno() for end in self]


@dataclass(frozen=True, slots=True)
class Told:
    """What a worker's proxy gets from the supervisor."""

    rules: Rules
    topology: Topology
    ordinal: Ordinal
    changed: Callable[[int], None]
    """To be told how many connections are open."""


class Worker:
    """The worker of a number. make: its proxy; took, opened: see `Loads`."""

    def __init__(
        self,
        ends: Ends,
        scenario: Scenario | None,
        began: int | None,
        make: Callable[[Told], Proxy],
        took: Callable[[], None],
        opened: Callable[[int], None],
    ) -> None:
        self._ends = ends
        self._took = took
        self._ask = partial(ask, ends.questions)
        rules = Rules(scenario)
        rules.began = began
        rules.claim = self._claim
        self.topology = Topology(self._listen, self._moved, self._missing)
        told = Told(rules, self.topology, partial(self._ask, "ordinal"), opened)
        self.proxy = make(told)
        self._target = LocalTarget(self.proxy)
        self._adopting = asyncio.Lock()

    def run(self) -> None:
        """Until the supervisor calls no more."""
        run(self._main())

    async def _main(self) -> None:
        self.proxy.begin()
        asyncio.get_running_loop().add_reader(self._ends.clients, self._take)
        await serve(self._ends.calls, self._method)

    def _method(self, name: str) -> Callable[..., Any]:
        own: dict[str, Callable[..., Any]] = {
            "adopt": self._adopt,
            "arm": self._arm,
            "drain": self.proxy.drain,
            "hurry": self.proxy.hurry,
            "note": self.proxy.note,
            "release": self.proxy.let_go,
        }
        return own.get(name) or getattr(self._target, name)

    def _take(self) -> None:
        for client in handed(self._ends.clients, self._no_descriptor):
            self._took()
            self.topology.meet(client.node)
            self.proxy.take(client)

    def _no_descriptor(self, name: str) -> None:
        self._took()
        why = os.strerror(errno.EMFILE)
        self.proxy.turned_away(name, why, why)

    async def _adopt(self, text: str, began: int) -> None:
        """As `Proxy.adopt`. The scenario comes as text: functions of a user's fault can't always be sent."""
        async with self._adopting:  # or a later one may be read sooner
            scenario = await asyncio.to_thread(loads, text, faults=self.proxy.options.faults)
            self.proxy.adopt(scenario, began)

    def _arm(self, rule: str, times: int) -> None:
        """The rule's next match fires, in whichever worker it is."""
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
