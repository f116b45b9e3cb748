"""A listener for each node. Who comes is numbered, and refused by a rule or taken."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from barnabas.captures.host_port import endpoint_text
from barnabas.proxy.connection.ordinals import Ordinals
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import (
    NOWHERE,
    Address,
    Elsewhere,
    Node,
    Topology,
    stands_at,
)
from barnabas.proxy.effects import Reject
from barnabas.proxy.network.acceptor import Acceptor
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.sockets import address_of, listen, turn_away
from barnabas.proxy.rules.rules import Rules


class Client(NamedTuple):
    """A client that was accepted, and the node that it wants."""

    number: int
    """Of the connection, from 1."""
    socket: socket.socket
    address: Address
    node: Node

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


class Listeners:
    """The listeners of a proxy; `take` gets who comes. rules: those that hold just now."""

    def __init__(
        self,
        options: Options,
        rules: Callable[[], Rules],
        totals: Totals,
        *,
        take: Callable[[Client], None],
        note: Callable[[dict[str, Any]], None],
        say: Callable[[str], None],
        elsewhere: Elsewhere = lambda _: None,
    ) -> None:
        self.topology = Topology(self._open, elsewhere=self._through)
        self.ordinal = Ordinals()
        self.bootstrap = Node(None, None, NOWHERE, options.listen)
        """What the first listener leads to."""
        self._elsewhere = elsewhere
        self._options = options
        self._rules = rules
        self._totals = totals
        self._take = take
        self._note = note
        self._say = say
        self._attempts: Counter[int | None] = Counter()
        self._refused: set[asyncio.Task[None]] = set()
        self._acceptor: Acceptor

    @property
    def address(self) -> Address:
        """Where clients find the bootstrap broker."""
        return self.bootstrap.listen

    def start(self) -> None:
        """Listen; once more where it was before. Raises OSError if the address can't be had."""
        loop = asyncio.get_running_loop()
        self._acceptor = Acceptor(loop, self._options, self._accepted, self._say)
        listener = listen(self.address)
        self.bootstrap.upstream = self._options.bootstrap[0]
        self.bootstrap.listen = address_of(listener.getsockname())
        self._acceptor.serve(listener, self.bootstrap)
        for known in self.topology.nodes.values():
            if known.listen != NOWHERE:
                self._acceptor.open_again(known)

    def close(self) -> None:
        """Listen no more: who comes now is refused."""
        self._acceptor.close()

    def forget(self) -> None:
        """Close whom rules have refused and keep waiting."""
        for task in self._refused:
            task.cancel()

    def _open(self, node: Node) -> Address:
        """A listener for a node that was just discovered."""
        address = self._acceptor.open(node)
        self._note(listener_note(node, address, self._options))
        return address

    def _through(self, node: Node) -> Address | None:
        """Where a node is reached without a listener of its own: brokers may advertise the proxy itself, as
        those behind a proxy that edits nothing have to. To listen for that would lead in circles."""
        place = self._elsewhere(node)
        if place is None and stands_at(self.address, node.upstream):
            return node.upstream
        return place

    def _accepted(self, sock: socket.socket, address: Address, node: Node) -> None:
        self._totals.connections += 1
        client = Client(self._totals.connections, sock, address, node)
        attempt = self._attempts[node.id]
        self._attempts[node.id] += 1
        reject = self._rules().connecting(node.id, attempt, clock())
        if reject is None:
            self._take(client)
            return
        self._totals.rejected += 1
        self._say(f"{client.name}: refused by a rule ({reject.how})")
        task = asyncio.get_running_loop().create_task(_refuse(sock, reject))
        self._refused.add(task)
        task.add_done_callback(self._refused.discard)


def listener_note(node: Node, address: Address, options: Options) -> dict[str, Any]:
    """What a capture says of a listener for a node that was just discovered."""
    host, port = options.advertise or address[0], address[1]
    return {"barnabas": "listener", "kind": node.kind, "node": node.id, "host": host, "port": port}


async def _refuse(client: socket.socket, reject: Reject) -> None:
    try:
        await turn_away(client, reject)
    finally:
        client.close()
