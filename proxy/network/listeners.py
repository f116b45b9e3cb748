"""A listener for each node; each accepted client is numbered, and taken or refused by a rule."""

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
    """An accepted client, and the node that it wants to reach."""

    number: int
    """The number of the connection, from 1."""
    socket: socket.socket
    address: Address
    node: Node
    leads_back: bool = False
    """Whether the node's address is a listener of the proxy, so that the client is refused."""

    @property
    def name(self) -> str:
        """Return the name of the connection in lines for a person."""
        return connection_name(self.number, self.address)


def connection_name(number: int, address: Address) -> str:
    """Return the name of a connection in lines for a person.

    >>> connection_name(3, ("10.0.0.1", 5000))
    'connection 3 (10.0.0.1:5000)'
    """
    return f"connection {number} ({endpoint_text(address)})"


@dataclass(frozen=True, slots=True)
class Reports:
    """The receivers of accepted clients, of notes for the capture, and of lines for the person."""

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
        """Create listeners that are not open yet; `rules` returns the rules in force."""
        self.topology = Topology(self._open, self._moved, elsewhere=self._address_elsewhere)
        self.ordinal = Ordinals()
        self.bootstrap = Node(None, None, NOWHERE, options.listen)
        """The node that the first listener leads to."""
        self._elsewhere = surroundings.elsewhere
        self._options = options
        self._rules = rules
        self._totals = totals
        self._take = reports.take
        self._note = reports.note
        self._say = reports.say
        self._own = OwnAddresses(lambda: (self, *surroundings.neighbours()), options.advertise)
        self._leading_back: dict[Node, Address] = {}
        """Nodes whose address is a listener of the proxy, with the address that was reported."""
        self._attempts: Counter[int | None] = Counter()
        self._pending: set[asyncio.Task[None]] = set()
        """The tasks for clients that are not taken yet, or never."""
        self._acceptor: Acceptor

    @property
    def address(self) -> Address:
        """Return the address at which clients find the bootstrap broker."""
        return self.bootstrap.listen

    def nodes(self) -> Iterable[Node]:
        """Return the nodes with listeners, the bootstrap broker first."""
        return chain((self.bootstrap,), self.topology.nodes.values())

    def upstreams(self, node: Node) -> Sequence[Address]:
        """Return the addresses at which a node may be reached."""
        return self._options.bootstrap if node is self.bootstrap else [node.upstream]

    def start(self) -> None:
        """Open the listeners; those of known nodes where they were before.

        Raises:
            OSError: The address is unavailable.
        """
        loop = asyncio.get_running_loop()
        self._acceptor = Acceptor(loop, self._options, self._own, self._accepted, self._say)
        self.bootstrap.upstream = self._options.bootstrap[0]
        self._acceptor.open_first(self.bootstrap)
        for node in self.topology.nodes.values():
            if node.listen != NOWHERE:
                self._acceptor.open_again(node)

    def close(self) -> None:
        """Close the listeners: further clients are refused."""
        self._acceptor.close()

    def forget(self) -> None:
        """Close the clients that rules have refused and that still wait."""
        for task in self._pending:
            task.cancel()

    def _open(self, node: Node) -> Address:
        """Open a listener for a node that was just discovered."""
        address = self._acceptor.open(node)
        self._note(listener_note(node, address, self._options))
        self._moved(node)
        return address

    def _moved(self, node: Node) -> None:
        """Report a node whose address is one where the proxy could have listened."""
        if (
            node.upstream[1] in (self._options.broker_ports or ())
            and self._own.listener(node.upstream) is None
            and self._own.is_here(node.upstream)
        ):
            self._say(
                f"{node.name} advertises {node.place}: the proxy leaves that port of --broker-ports free; "
                "choose ports that no broker has, and have advertised.listeners name brokers, not the proxy"
            )

    def _address_elsewhere(self, node: Node) -> Address | None:
        """Return the address of a node that is reached without a listener of its own.

        Brokers may advertise the proxy itself, as they must with a proxy that edits no responses. A listener
        for such an address would lead in circles.
        """
        address = self._elsewhere(node)
        if address is None and self._own.listener(node.upstream) is self.bootstrap:
            return node.upstream
        return address

    def _accepted(self, sock: socket.socket, address: Address, node: Node) -> None:
        self._totals.connections += 1
        client = Client(self._totals.connections, sock, address, node)
        attempt = self._attempts[node.id]
        self._attempts[node.id] += 1
        reject = self._rules().connecting(node.id, attempt, clock())
        if reject is not None:
            self._totals.rejected += 1
            self._say(f"{client.name}: refused by a rule ({reject.how})")
            self._start(_refuse(sock, reject))
        elif self._own.may_lead_back(self.upstreams(node)):
            self._start(self._take_checked(client))
        else:
            self._take(client)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def _take_checked(self, client: Client) -> None:
        """Take a client of a node whose address may be the proxy's own; that is reported once."""
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
    """Return the capture's note on a listener for a node that was just discovered."""
    host, port = options.advertise or address[0], address[1]
    return {"barnabas": "listener", "kind": node.kind, "node": node.id, "host": host, "port": port}


async def _refuse(client: socket.socket, reject: Reject) -> None:
    try:
        await turn_away(client, reject)
    finally:
        client.close()
