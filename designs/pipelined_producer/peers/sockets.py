"""The send thread's sockets, by node: connections are made, selected, read and written without blocking."""

from __future__ import annotations

import contextlib
import selectors
import socket
from collections.abc import Collection
from typing import Final, NamedTuple

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.peers.actions import Heard, Takes
from barnabas.designs.pipelined_producer.peers.resolver import (
    Endpoint,
    Lookup,
    Resolver,
    literal,
    look_up,
)

_CHUNK: Final = 1 << 18
_LONGEST: Final = 3600.0  # seconds that select waits at most
_BELL: Final = -2  # stands for a node: another thread rings


class _Attempt(NamedTuple):
    """A connection that is being made, and what else its address stands for."""

    address: Address
    left: list[Endpoint]


class Sockets:
    """All sockets of a producer. Only `ring` is for other threads.

    A name may stand for several endpoints: one after the other is tried. One that neither takes nor
    refuses is given up by whoever closes it; the next attempt goes on behind it.
    """

    def __init__(self, lookup: Lookup = look_up) -> None:
        self._selector = selectors.DefaultSelector()
        self._open: dict[int, socket.socket] = {}
        self._named: dict[int, Address] = {}
        """Nodes that wait for their address to be looked up."""
        self._connecting: dict[int, _Attempt] = {}
        self._untried: dict[Address, list[Endpoint]] = {}
        self._refused: set[int] = set()
        """Connections that have ended, which nobody was told yet."""
        self._resolver = Resolver(lookup, self.ring)
        self._ringer, self._bell = socket.socketpair()
        self._ringer.setblocking(False)
        self._bell.setblocking(False)
        self._selector.register(self._bell, selectors.EVENT_READ, _BELL)

    def ring(self) -> None:
        """End a select that waits, from any thread."""
        with contextlib.suppress(OSError):  # full: it rings already; closed: nobody is there
            self._ringer.send(b"!")

    def readable(self, wanted: Collection[int], seconds: float) -> Heard:
        """Wait so long until something came, or one of those that have something to write takes bytes."""
        arrived: dict[int, bytes] = {}
        lost: set[int] = set()
        for node, events in self._select(wanted, 0 if self._refused else min(seconds, _LONGEST)):
            if node == _BELL:
                self._bell.recv(4096)
            elif node in self._connecting or not events & selectors.EVENT_READ:
                continue
            elif not self._read(node, arrived):
                lost.add(node)
        for address, found in self._resolver.answers():
            for node in [node for node, named in self._named.items() if named == address]:
                del self._named[node]
                self._dial(node, _Attempt(address, list(found)))
        lost |= self._refused
        self._refused.clear()
        return Heard(arrived, lost)

    def writable(self, wanted: Collection[int]) -> Takes:
        """Which of those that have something to write take bytes now, and which are connected now."""
        takes, connected = set(), []
        for node, events in self._select(wanted, 0):
            if node in self._connecting:
                attempt = self._connecting.pop(node)
                if self._open[node].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    self._drop(node)
                    self._dial(node, attempt)
                else:
                    connected.append(node)
            elif node != _BELL and events & selectors.EVENT_WRITE:
                takes.add(node)
        return Takes(takes, connected)

    def connect(self, node: int, address: Address) -> None:
        """Begin to connect; `writable` says that it is done, or `readable` that it is lost."""
        if not 0 <= address[1] < 1 << 16:
            self._refused.add(node)
            return
        found = self._untried.pop(address, None) or literal(*address)
        if found:
            self._dial(node, _Attempt(address, found))
        else:
            self._named[node] = address
            self._resolver.ask(address)

    def write(self, node: int, data: memoryview) -> int:
        """How many bytes were taken."""
        try:
            return self._open[node].send(data) if node in self._open else 0
        except BlockingIOError:
            return 0
        except OSError:
            self._refused.add(node)  # reading says so, too
            return 0

    def close(self, node: int) -> None:
        """End a connection, or the attempt to make one."""
        attempt = self._connecting.pop(node, None)
        if attempt is not None and attempt.left:
            self._untried[attempt.address] = attempt.left
        self._named.pop(node, None)
        self._refused.discard(node)
        if node in self._open:
            self._drop(node)

    def shut(self) -> None:
        """The end: nothing is selected any more. All connections are closed before."""
        self._selector.close()
        self._ringer.close()
        self._bell.close()

    def _select(self, wanted: Collection[int], seconds: float) -> list[tuple[int, int]]:
        for node, connection in self._open.items():
            writes = node in wanted or node in self._connecting
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writes else 0)
            if self._selector.get_key(connection).events != events:
                self._selector.modify(connection, events, node)
        return [(key.data, events) for key, events in self._selector.select(seconds)]

    def _read(self, node: int, arrived: dict[int, bytes]) -> bool:
        """Take what came; whether the connection is still there."""
        try:
            data = self._open[node].recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        arrived[node] = data
        return bool(data)

    def _dial(self, node: int, attempt: _Attempt) -> None:
        """Try the next endpoint that does not refuse at once."""
        while attempt.left:
            family, address = attempt.left.pop(0)
            try:
                connection = socket.socket(family, socket.SOCK_STREAM)
            except OSError:  # a family that the machine has not
                continue
            connection.setblocking(False)
            try:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with contextlib.suppress(BlockingIOError):
                    connection.connect(address)
            except (OSError, OverflowError, TypeError, ValueError):
                connection.close()
                continue
            self._open[node] = connection
            self._connecting[node] = attempt
            events = selectors.EVENT_READ | selectors.EVENT_WRITE
            self._selector.register(connection, events, node)
            return
        self._refused.add(node)

    def _drop(self, node: int) -> None:
        connection = self._open.pop(node)
        self._selector.unregister(connection)
        connection.close()
