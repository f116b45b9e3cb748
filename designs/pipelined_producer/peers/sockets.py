"""The send thread's sockets, by node: it connects, selects, reads and writes without blocking.

Threads look up host names: a slow lookup delays only the connections that wait for it.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Callable, Collection, Iterator
from queue import SimpleQueue
from typing import Any, Final, NamedTuple

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.peers.actions import ReadResult, WriteResult

_CHUNK: Final = 1 << 18
_LONGEST: Final = 3600.0  # seconds that select waits at most
_BELL: Final = -2  # the node of the socket on which other threads ring


class Endpoint(NamedTuple):
    """The target of a socket: the family, and the address in its form."""

    family: int
    address: Any


Lookup = Callable[[str, int], list[Endpoint]]
"""Maps a host and a port to all endpoints; it may be slow, and raise any exception."""


def look_up(host: str, port: int, flags: int = 0) -> list[Endpoint]:
    """Ask the system for IPv4 and IPv6 endpoints. Raises OSError or ValueError if it knows no such host."""
    results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [Endpoint(family, address) for family, _, _, _, address in results]


def literal(host: str, port: int) -> list[Endpoint]:
    """Return the endpoint if the host is an address; return none for a name, without a lookup.

    >>> [tuple(one) for one in literal("::1", 9092)] == [(socket.AF_INET6, ("::1", 9092, 0, 0))]
    True
    >>> literal("localhost", 9092)
    []
    """
    try:
        return look_up(host, port, socket.AI_NUMERICHOST)
    except (OSError, ValueError):
        return []


class Resolver:
    """Looks up names, each address once at a time. done: called in another thread after a lookup.

    The threads don't keep a program from ending.
    """

    def __init__(self, lookup: Lookup, done: Callable[[], None]) -> None:
        self._lookup = lookup
        self._done = done
        self._under_way: set[Address] = set()
        self._finished: SimpleQueue[tuple[Address, list[Endpoint]]] = SimpleQueue()

    def ask(self, address: Address) -> None:
        """Begin a lookup, unless it is under way."""
        if address not in self._under_way:
            self._under_way.add(address)
            threading.Thread(
                target=self._work, args=(address,), name=f"lookup of {address[0]!r}", daemon=True
            ).start()

    def answers(self) -> Iterator[tuple[Address, list[Endpoint]]]:
        """Yield the endpoints of finished lookups; an empty list if there are none."""
        while not self._finished.empty():
            address, endpoints = self._finished.get()
            self._under_way.discard(address)
            yield address, endpoints

    def _work(self, address: Address) -> None:
        try:
            endpoints = self._lookup(*address)
        except Exception:  # noqa: BLE001 - it means that there is no such host
            endpoints = []
        self._finished.put((address, endpoints))
        self._done()


class _Attempt(NamedTuple):
    """A connection attempt, and the other endpoints of its address."""

    address: Address
    untried: list[Endpoint]


class Sockets:
    """All sockets of a producer. Only `ring` is for other threads.

    A name may stand for several endpoints, which are tried in turn. `close` gives up an endpoint that
    neither accepts nor refuses; the next attempt continues after it.
    """

    def __init__(self, lookup: Lookup = look_up) -> None:
        self._selector = selectors.DefaultSelector()
        self._open: dict[int, socket.socket] = {}
        self._named: dict[int, Address] = {}
        """Nodes that wait for a lookup of their address."""
        self._connecting: dict[int, _Attempt] = {}
        self._untried: dict[Address, list[Endpoint]] = {}
        self._refused: set[int] = set()
        """Lost connections that were not reported yet."""
        self._resolver = Resolver(lookup, self.ring)
        self._ringer, self._bell = socket.socketpair()
        self._ringer.setblocking(False)
        self._bell.setblocking(False)
        self._selector.register(self._bell, selectors.EVENT_READ, _BELL)

    def ring(self) -> None:
        """End a waiting select, from any thread."""
        with contextlib.suppress(OSError):  # full: it rings already; closed: there is no reader
            self._ringer.send(b"!")

    def readable(self, writing: Collection[int], seconds: float) -> ReadResult:
        """Wait until bytes come, or a node in `writing` takes bytes; return received bytes and lost nodes."""
        arrived: dict[int, bytes] = {}
        for node, events in self._select(writing, 0 if self._refused else min(seconds, _LONGEST)):
            if node == _BELL:
                self._bell.recv(4096)
            elif node not in self._connecting and events & selectors.EVENT_READ:
                with contextlib.suppress(BlockingIOError):
                    arrived[node] = self._read(node)
        for address, endpoints in self._resolver.answers():
            for node in [node for node, named in self._named.items() if named == address]:
                del self._named[node]
                self._dial(node, _Attempt(address, list(endpoints)))
        lost = self._refused | {node for node, data in arrived.items() if not data}
        self._refused = set()
        return ReadResult(arrived, lost)

    def writable(self, writing: Collection[int]) -> WriteResult:
        """Return the nodes in `writing` that take bytes, and those that are connected now."""
        takes, connected = set(), []
        for node, events in self._select(writing, 0):
            if node in self._connecting:
                attempt = self._connecting.pop(node)
                if self._open[node].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    self._drop(node)
                    self._dial(node, attempt)
                else:
                    connected.append(node)
            elif node != _BELL and events & selectors.EVENT_WRITE:
                takes.add(node)
        return WriteResult(takes, connected)

    def connect(self, node: int, address: Address) -> None:
        """Begin to connect; `writable` reports success, `readable` failure."""
        if not 0 <= address[1] < 1 << 16:
            self._refused.add(node)
            return
        endpoints = self._untried.pop(address, None) or literal(*address)
        if endpoints:
            self._dial(node, _Attempt(address, endpoints))
        else:
            self._named[node] = address
            self._resolver.ask(address)

    def write(self, node: int, data: memoryview) -> int:
        """Send bytes; return how many the socket took."""
        try:
            return self._open[node].send(data) if node in self._open else 0
        except BlockingIOError:
            return 0
        except OSError:
            self._refused.add(node)  # as reading does
            return 0

    def close(self, node: int) -> None:
        """Close a connection, or end the attempt to open it."""
        attempt = self._connecting.pop(node, None)
        if attempt is not None and attempt.untried:
            self._untried[attempt.address] = attempt.untried
        self._named.pop(node, None)
        self._refused.discard(node)
        if node in self._open:
            self._drop(node)

    def shut(self) -> None:
        """Close the selector, after all connections were closed."""
        self._selector.close()
        self._ringer.close()
        self._bell.close()

    def _select(self, writing: Collection[int], seconds: float) -> list[tuple[int, int]]:
        for node, connection in self._open.items():
            writes = node in writing or node in self._connecting
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writes else 0)
            if self._selector.get_key(connection).events != events:
                self._selector.modify(connection, events, node)
        return [(key.data, events) for key, events in self._selector.select(seconds)]

    def _read(self, node: int) -> bytes:
        """Return received bytes; none if the connection has ended. Raises BlockingIOError."""
        try:
            return self._open[node].recv(_CHUNK)
        except BlockingIOError:
            raise
        except OSError:
            return b""

    def _dial(self, node: int, attempt: _Attempt) -> None:
        """Connect to the next endpoint that does not refuse at once."""
        while attempt.untried:
            family, address = attempt.untried.pop(0)
            try:
                connection = socket.socket(family, socket.SOCK_STREAM)
            except OSError:  # the machine lacks the family
                continue
            try:
                connection.setblocking(False)
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
