"""A listener for each node. Who comes is numbered, and refused by a rule or taken."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from barnabas.captures.host_port import endpoint_text
from barnabas.proxy.connection.ordinals import Ordinals
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import (
    NOWHERE,
    Address,
    Node,
    Topology,
)
from barnabas.proxy.effects import Reject
from barnabas.proxy.network.acceptor import Acceptor
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.own_addresses import OwnAddresses
from barnabas.proxy.network.sockets import turn_away
from barnabas.proxy.network.surroundings import Surroundings
from barnabas.proxy.rules.rules import Rules


class Client(NamedTuple):
    """A client that was accepted, and the node that it wants."""

    number: int
    """Of the connection, from 1."""
    socket: socket.socket
    address: Address
    node: Node
    leads_back: bool = False
    """Whether the node's address is a listener of the proxy: nobody connects there."""

    @property
    def name(self) -> str:
        """How lines for a person name the connection."""
        return connection_name(self.number, self.address)


def connection_name(number: int, address: Address) -> str:
    """How lines for a person name a connection.

    >>> connection_name(3, ("10.0.0.1", 5000))
    'connection 3 (10.0.0.1:5000)'
    """
    return f"connection {number} ({endpoint_text(address)})"


@dataclass(frozen=True, slots=True)
class Reports:
    """What becomes of accepted clients, of notes for the capture, and of lines for the person."""

    take: Callable[[Client], None]
    note: Callable[[dict[str, Any]], None]
    say: Callable[[str], None]


class Listeners:
    """The listeners of a proxy, one for each broker."""

    def __init__(
        self,
        options: Options,
        rules: Callable[[], Rules],
        totals: Totals,
        reports: Reports,
        surroundings: Surroundings,
    ) -> None:
        """Make listeners that do not listen yet. rules: returns the rules that are in force."""
        self.topology = Topology(self._open, self._moved, elsewhere=self._through)
        self.ordinal = Ordinals()
        self.bootstrap = Node(None, None, NOWHERE, options.listen)
        """What the first listener leads to."""
        self._elsewhere = surroundings.elsewhere
        self._options = options
        self._rules = rules
        self._totals = totals
        self._take = reports.take
        self._note = reports.note
        self._say = reports.say
        self._own = OwnAddresses(lambda: (self, *surroundings.neighbours()), options.advertise)
        self._leading_back: dict[Node, Address] = {}
        """Nodes whose address is a listener of the proxy, as it was reported."""
        self._attempts: Counter[int | None] = Counter()
        self._pending: set[asyncio.Task[None]] = set()
        """About clients that are not taken yet, or never."""
        self._acceptor: Acceptor

    @property
    def address(self) -> Address:
        """Where clients find the bootstrap broker."""
        return self.bootstrap.listen

    def nodes(self) -> Iterable[Node]:
        """Return the nodes that are listened for, the bootstrap broker first."""
        return chain((self.bootstrap,), self.topology.nodes.values())

    def upstreams(self, node: Node) -> Sequence[Address]:
        """Return where a node may be reached."""
        return self._options.bootstrap if node is self.bootstrap else [node.upstream]

    def start(self) -> None:
        """Listen; once more where it was before. Raises OSError if the address can't be had."""
        loop = asyncio.get_running_loop()
        self._acceptor = Acceptor(loop, self._options, self._own, self._accepted, self._say)
        self.bootstrap.upstream = self._options.bootstrap[0]
        self._acceptor.open_first(self.bootstrap)
        for known in self.topology.nodes.values():
            if known.listen != NOWHERE:
                self._acceptor.open_again(known)

    def close(self) -> None:
        """Listen no more: who comes now is refused."""
        self._acceptor.close()

    def forget(self) -> None:
        """Close whom rules have refused and keep waiting."""
        for task in self._pending:
            task.cancel()

    def _open(self, node: Node) -> Address:
        """A listener for a node that was just discovered."""
        address = self._acceptor.open(node)
        self._note(listener_note(node, address, self._options))
        self._moved(node)
        return address

    def _moved(self, node: Node) -> None:
        """Say that a node has an address at which the proxy might have listened."""
        if (
            node.upstream[1] in (self._options.broker_ports or ())
            and self._own.listener(node.upstream) is None
            and self._own.is_here(node.upstream)
        ):
            self._say(
                f"{node.name} advertises {node.place}: the proxy leaves that port of --broker-ports free; "
                "choose ports that no broker has, and have advertised.listeners name brokers, not the proxy"
            )

    def _through(self, node: Node) -> Address | None:
        """Where a node is reached without a listener of its own: brokers may advertise the proxy itself, as
        those behind a proxy that edits nothing have to. To listen for that would lead in circles."""
        place = self._elsewhere(node)
        if place is None and self._own.listener(node.upstream) is self.bootstrap:
            return node.upstream
        return place

    def _accepted(self, sock: socket.socket, address: Address, node: Node) -> None:
        self._totals.connections += 1
        client = Client(self._totals.connections, sock, address, node)
        attempt = self._attempts[node.id]
        self._attempts[node.id] += 1
        reject = self._rules().connecting(node.id, attempt, clock())
        if reject is not None:
            self._totals.rejected += 1
            self._say(f"{client.name}: refused by a rule ({reject.how})")
            self._later(_refuse(sock, reject))
        elif self._own.may_lead_back(self.upstreams(node)):
            self._later(self._take_checked(client))
        else:
            self._take(client)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def _take_checked(self, client: Client) -> None:
        """Take a client of a node, which may be at an address of the proxy's own: that is said once."""
        with contextlib.ExitStack() as unless_taken:
            unless_taken.callback(client.socket.close)
            leads_back = await self._own.leads_back(client.node)
            unless_taken.pop_all()
        if leads_back and self._leading_back.get(client.node) != client.node.upstream:
            self._leading_back[client.node] = client.node.upstream
            self._say(leading_back(client.node))
        self._take(client._replace(leads_back=leads_back))


def leading_back(node: Node) -> str:
    """Return the line about a node whose address is a listener of the proxy, with the remedy."""
    if node.kind is None:
        return f"{node.place} leads back to this proxy: clients are turned away; choose another address"
    return (
        f"{node.name} advertises {node.place}, a listener of this proxy: its own address is unknown, so its "
        "clients are turned away; have advertised.listeners name brokers, not the proxy, and choose "
        "--broker-ports that no broker has"
    )


def listener_note(node: Node, address: Address, options: Options) -> dict[str, Any]:
    """What a capture says of a listener for a node that was just discovered."""
    host, port = options.advertise or address[0], address[1]
    return {"barnabas": "listener", "kind": node.kind, "node": node.id, "host": host, "port": port}


async def _refuse(client: socket.socket, reject: Reject) -> None:
    try:
        await turn_away(client, reject)
    finally:
        client.close()
