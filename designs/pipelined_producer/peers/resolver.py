"""Names become addresses in threads of their own: a slow name holds up nothing but what waits for it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from barnabas.designs.leaders import Address


class Endpoint(NamedTuple):
    """What a socket connects to: the family, and the address as that family has it."""

    family: int
    address: Any


Lookup = Callable[[str, int], list[Endpoint]]
"""Host, port -> all that the name stands for; it may take its time, and raise whatever it likes."""


def look_up(host: str, port: int, flags: int = 0) -> list[Endpoint]:
    """As the system has it, IPv4 and IPv6. Raises OSError or ValueError if there is no such host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [Endpoint(family, address) for family, _, _, _, address in found]


def literal(host: str, port: int) -> list[Endpoint]:
    """The endpoint if the host is an address itself; empty for a name, and asks nobody.

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
    """Looks names up. done: called in another thread when `answers` has something.

    There is one lookup of an address at a time. The threads don't keep a program from ending.
    """

    def __init__(self, lookup: Lookup, done: Callable[[], None]) -> None:
        self._lookup = lookup
        self._done = done
        self._under_way: set[Address] = set()
        self._found: SimpleQueue[tuple[Address, list[Endpoint]]] = SimpleQueue()

    def ask(self, address: Address) -> None:
        """Begin a lookup, unless it is under way."""
        if address not in self._under_way:
            self._under_way.add(address)
            threading.Thread(
                target=self._work, args=(address,), name=f"lookup of {address[0]!r}", daemon=True
            ).start()

    def answers(self) -> Iterator[tuple[Address, list[Endpoint]]]:
        """What was found since; an empty list: nothing."""
        while True:
            try:
                address, found = self._found.get_nowait()
            except Empty:
                return
            self._under_way.discard(address)
            yield address, found

    def _work(self, address: Address) -> None:
        try:
            found = self._lookup(*address)
        except Exception:  # noqa: BLE001 - whatever it raises, there is no such host
            found = []
        self._found.put((address, found))
        self._done()
