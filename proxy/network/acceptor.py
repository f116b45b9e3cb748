"""Accepts clients on the listeners of a proxy, each of which leads to one node."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Sequence
from typing import Final

from barnabas.captures.host_port import endpoint_text
from barnabas.proxy.edits.topology import Address, Node, NoPort
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.own_addresses import OwnAddresses
from barnabas.proxy.network.rate_limited_lines import RateLimitedLines
from barnabas.proxy.network.sockets import address_of, listen

AGAIN: Final = 0.5
"""Seconds until the next attempt to accept, after one has failed."""

TRIES: Final = 16
"""The most attempts to get a port from the system at which no broker is expected."""

QUIET: Final = 30.0
"""Seconds between two reports that clients cannot be accepted."""


class Acceptor:
    """The listeners of one proxy.

    Ports at which brokers are expected (`own_addresses`) are left to them. `accepted` receives a client's
    socket, its address, and the node that the listener leads to.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        options: Options,
        own_addresses: OwnAddresses,
        accepted: Callable[[socket.socket, Address, Node], None],
        say: Callable[[str], None],
    ) -> None:
        self._loop = loop
        self._options = options
        self._own = own_addresses
        self._accepted = accepted
        self._say = say
        self._listeners: list[socket.socket] = []
        self._used: set[int] = set()
        self._not_accepted = RateLimitedLines(say, QUIET)

    def serve(self, listener: socket.socket, node: Node) -> None:
        """Accept clients on this listener."""
        listener.setblocking(False)
        self._listeners.append(listener)
        self._loop.add_reader(listener, self._accept, listener, node)
        self._say(f"listening on {endpoint_text(node.listen)} for {node.name} at {node.place}")

    def open_first(self, node: Node) -> None:
        """Open the listener for the bootstrap broker.

        Raises:
            OSError: The address is unavailable.
        """
        chosen = node.listen[1]
        listener = (
            listen(node.listen) if chosen else self._listen_unless_expected(node.listen, node)
        )
        node.listen = address_of(listener.getsockname())
        self.serve(listener, node)

    def open(self, node: Node) -> Address:
        """Open a listener for a node on one of the ports for brokers.

        The node's preferred port is the first port plus its id. If that port is taken, the last free port is
        used: the first ports may be preferred by other nodes.

        Raises:
            NoPort: No port is free.
        """
        ports: Sequence[int] = self._options.broker_ports or (0,)  # 0: the system chooses
        preferred = [] if node.id is None or ports == (0,) else [ports[0] + node.id]
        for port in (*preferred, *reversed(ports)):
            if port in self._used or (port and port not in ports):
                continue
            try:
                listener = self._listen_unless_expected((self._options.listen[0], port), node)
            except OSError:
                continue
            node.listen = address_of(listener.getsockname())
            self._used.add(node.listen[1])
            self.serve(listener, node)
            return node.listen
        raise NoPort(
            f"no port is free in {ports[0]}-{ports[-1]} for {node.name} ({node.place}): "
            "widen --broker-ports"
        )

    def open_again(self, node: Node) -> None:
        """Open a node's listener where it was before, or on another port if that one is taken.

        Raises:
            NoPort: No port is free.
        """
        try:
            listener = self._listen_unless_expected(node.listen, node)
        except OSError:
            self.open(node)
            return
        self._used.add(node.listen[1])
        self.serve(listener, node)

    def _listen_unless_expected(self, address: Address, node: Node) -> socket.socket:
        """Return a listening socket for a node, on a port at which no broker is expected.

        Raises OSError if there is none.
        """
        port = address[1]
        for _ in range(1 if port else TRIES):
            if port and self._own.is_expected(port, node):
                break
            listener = listen(address)
            if port or not self._own.is_expected(listener.getsockname()[1], node):
                return listener
            listener.close()
        raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))

    def close(self) -> None:
        """Close all listeners."""
        for listener in self._listeners:
            self._loop.remove_reader(listener)
            listener.close()
        self._listeners.clear()

    def _accept(self, listener: socket.socket, node: Node) -> None:
        while True:
            try:
                client, peer = listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as problem:
                # mostly no descriptors are free: an immediate retry would only spin
                self._say_not_accepted(node, problem)
                self._loop.remove_reader(listener)
                self._loop.call_later(AGAIN, self._accept_again, listener, node)
                return
            client.setblocking(False)
            self._accepted(client, address_of(peer), node)

    def _say_not_accepted(self, node: Node, problem: OSError) -> None:
        """Report now and then that clients cannot be accepted: it may last for hours."""
        unsaid = self._not_accepted.due("all listeners", self._loop.time())
        if unsaid is not None:
            more = f" ({unsaid + 1} times since the last report)" if unsaid else ""
            self._say(
                f"{endpoint_text(node.listen)}: can't accept connections: {problem.strerror}; "
                f"they wait{more}"
            )

    def _accept_again(self, listener: socket.socket, node: Node) -> None:
        if listener in self._listeners:
            self._loop.add_reader(listener, self._accept, listener, node)
