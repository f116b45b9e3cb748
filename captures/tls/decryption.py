"""Puts the application data of TLS conversations in the place of their bytes, where the keys are known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.kafka.framing.protocol_detection import Kind
from barnabas.captures.tcp.bytes_needed import NEVER_SAID
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.captures.tls.connection import Connection
from barnabas.captures.tls.keylog import KeyLog
from barnabas.specs.frames import OPPOSITE, Direction

_CLIENT_HELLO: Final = re.compile(rb"\x16\x03[\x00-\x04]..\x01", re.DOTALL)
"""How a ClientHello begins. For Kafka it would be a frame of 369 MB."""
_EARLY: Final = 16
"""Chunks by which a conversation has six bytes."""


@dataclass(slots=True)
class Seen:
    """What was found of TLS so far."""

    read: int = 0
    """Connections that are over, of which anything could be read."""
    broken: Counter[str] = field(default_factory=Counter)
    """Why some of them could be read only in part."""
    unread: Counter[str] = field(default_factory=Counter)
    """Why others could not be read at all."""


@dataclass(slots=True)
class _Begun:
    """A conversation of which the first bytes are not there yet."""

    opened: Opened
    held: list[Chunk] = field(default_factory=list)


@dataclass(slots=True)
class _Tls:
    connection: Connection
    port: int
    swapped: bool
    """Whether the capture began between SYN and ClientHello, and its ends were taken for each other."""


class Decryption:
    """Replaces the bytes of TLS conversations by their application data; lets all else through."""

    def __init__(self, keys: KeyLog, seen: Seen, left_out: Counter[tuple[int, Kind]]) -> None:
        self._keys = keys
        self._seen = seen
        self._left_out = left_out
        self._open: dict[int, _Begun | _Tls] = {}

    def lets_through(self, event: Event) -> bool:
        """Whether `feed` would return just this event."""
        return event.connection not in self._open and not isinstance(event, Opened)

    def feed(self, event: Event) -> Iterable[Event]:
        """What an event comes to."""
        if isinstance(event, Opened):
            self._open[event.connection] = _Begun(event)
            return ()
        state = self._open.get(event.connection)
        if state is None:
            return (event,)
        if isinstance(state, _Begun):
            return self._begin(state, event)
        return self._go_on(state, event)

    def end(self) -> Iterator[Event]:
        """The capture is over."""
        for state in self._open.values():
            if isinstance(state, _Tls):
                self._count(state)
            else:
                yield state.opened
                yield from state.held
        self._open.clear()

    def _begin(self, begun: _Begun, event: Chunk | Lost | Closed) -> Iterator[Event]:
        tls: bool | None = False
        if isinstance(event, Chunk):
            begun.held.append(event)
            tls = _is_tls(begun)
        if tls is None:
            return
        opened = begun.opened
        if not tls:
            del self._open[opened.connection]
            yield opened
            yield from begun.held
            if not isinstance(event, Chunk):
                yield event
            return
        swapped = _first(begun) == "response"
        if swapped:
            opened = opened._replace(client=opened.server, server=opened.client)
        # a ClientHello is what a conversation begins with, whether its SYN was seen or not; and what is
        # asked for of its plaintext says nothing of the bytes that bring it
        yield opened._replace(whole=True, needs=NEVER_SAID)
        port = int(opened.server.rpartition(":")[2])
        state = self._open[opened.connection] = _Tls(Connection(self._keys), port, swapped)
        for chunk in begun.held:
            yield from self._go_on(state, chunk)

    def _go_on(self, tls: _Tls, event: Chunk | Lost | Closed) -> Iterator[Event]:
        if isinstance(event, Closed):
            del self._open[event.connection]
            self._count(tls)
            yield event._replace(by=OPPOSITE[event.by]) if tls.swapped and event.by else event
            return
        if tls.swapped:
            event = event._replace(direction=OPPOSITE[event.direction])
        if isinstance(event, Lost):
            tls.connection.lose(event.direction, event.bytes)
            return
        number, flow, direction, ts_ns = event[:4]
        plain: list[bytes] = []
        for found in tls.connection.feed(direction, event.data):
            if isinstance(found, bytes):
                plain.append(found)
                continue
            if plain:
                yield event._replace(data=b"".join(plain), comments=())
                plain.clear()
            yield Lost(number, flow, direction, ts_ns, found.bytes)
        if plain or event.comments:
            yield event._replace(data=b"".join(plain))

    def _count(self, tls: _Tls) -> None:
        trouble = tls.connection.trouble
        if tls.connection.read:
            self._seen.read += 1
            self._seen.broken.update([trouble] if trouble else [])
        else:
            self._seen.unread[trouble] += 1
            self._left_out[tls.port, "TLS"] += 1


def _first(begun: _Begun) -> Direction:
    """The direction that began."""
    return next((chunk.direction for chunk in begun.held if chunk.data), "request")


def _is_tls(begun: _Begun) -> bool | None:
    """Whether a conversation begins with a ClientHello; None: that can't be said yet."""
    first = _first(begun)
    data = b"".join(chunk.data for chunk in begun.held if chunk.direction == first)
    if begun.opened.whole and first == "response":
        return False
    if len(data) < 6 and b"\x16\x03".startswith(data[:2]) and len(begun.held) < _EARLY:
        return None
    return _CLIENT_HELLO.match(data) is not None
