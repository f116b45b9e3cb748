"""Accepts connections: the listeners of a proxy, each in front of one node."""

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
from barnabas.proxy.network.seldom import Seldom
from barnabas.proxy.network.sockets import address_of, listen

AGAIN: Final = 0.5
"""Seconds until connections are accepted again, if they could not be."""

TRIES: Final = 16
"""How often the system may choose a port at which a broker is expected."""

QUIET: Final = 30.0
"""Seconds for which it is not said again that they can't."""


class Acceptor:
    """The listeners of one proxy; `accepted` gets a client's socket, its address, and the node it wants.

    Ports at which brokers are expected (`own`) are left to them.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        options: Options,
        own: OwnAddresses,
        accepted: Callable[[socket.socket, Address, Node], None],
        say: Callable[[str], None],
    ) -> None:
        self._loop = loop
        self._options = options
        self._own = own
        self._accepted = accepted
        self._say = say
        self._listeners: list[socket.socket] = []
        self._used: set[int] = set()
        self._not_accepted = Seldom(say, QUIET)

    def serve(self, listener: socket.socket, node: Node) -> None:
        """Accept whoever comes by this listener."""
        listener.setblocking(False)
        self._listeners.append(listener)
        self._loop.add_reader(listener, self._accept, listener, node)
        self._say(f"listening on {endpoint_text(node.listen)} for {node.name} at {node.place}")

    def open_first(self, node: Node) -> None:
        """Listen for the bootstrap broker. Raises OSError if the address can't be had."""
        chosen = node.listen[1]
        listener = listen(node.listen) if chosen else self._left_over(node.listen, node)
        node.listen = address_of(listener.getsockname())
        self.serve(listener, node)

    def open(self, node: Node) -> Address:
        """Listen for a node on one of the ports for brokers. Raises NoPort.

        The port of a node's id is taken if that is free: the first is the one of id 0. Otherwise it is the
        last that is free: the first ones may be those of nodes to come.
        """
        ports: Sequence[int] = self._options.broker_ports or (0,)  # 0: the system chooses
        preferred = [] if node.id is None or ports == (0,) else [ports[0] + node.id]
        for port in (*preferred, *reversed(ports)):
            if port in self._used or (port and port not in ports):
                continue
            try:
                listener = self._left_over((self._options.listen[0], port), node)
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
        """Listen for a node where it was listened for, or on another port if that is taken. Raises NoPort."""
        try:
            listener = self._left_over(node.listen, node)
        except OSError:
            self.open(node)
            return
        self._used.add(node.listen[1])
        self.serve(listener, node)

    def _left_over(self, address: Address, node: Node) -> socket.socket:
        """Return a socket that listens there for a node. Raises OSError, also where a broker is expected."""
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
        """Listen no more."""
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
                # no descriptors left, mostly: trying again at once would only spin
                self._say_not_accepted(node, problem)
                self._loop.remove_reader(listener)
                self._loop.call_later(AGAIN, self._accept_again, listener, node)
                return
            client.setblocking(False)
            self._accepted(client, address_of(peer), node)

    def _say_not_accepted(self, node: Node, problem: OSError) -> None:
        """Now and then only: it may go on for hours, several times a second."""
        unsaid = self._not_accepted.due("all listeners", self._loop.time())
        if unsaid is not None:
            more = f" ({unsaid + 1} times since it was last said)" if unsaid else ""
            self._say(
                f"{endpoint_text(node.listen)}: can't accept connections: {problem.strerror}; "
                f"they wait{more}"
            )

    def _accept_again(self, listener: socket.socket, node: Node) -> None:
        if listener in self._listeners:
            self._loop.add_reader(listener, self._accept, listener, node)
