"""Replace the bytes of TLS conversations by their application data, where the keys are known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.kafka.framing.protocol_detection import OtherProtocol
from barnabas.captures.tcp.bytes_needed import NO_NEEDS
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.captures.tls.connection import Connection
from barnabas.captures.tls.keylog import KeyLog
from barnabas.specs.frames import OPPOSITE, Direction

_CLIENT_HELLO: Final = re.compile(rb"\x16\x03[\x00-\x04]..\x01", re.DOTALL)
"""The beginning of a ClientHello. As a Kafka frame it would have 369 MB."""
_EARLY: Final = 16
"""Chunks within which a conversation has six bytes."""


@dataclass(slots=True)
class TlsCounts:
    """Counts of TLS connections so far."""

    read: int = 0
    """Closed connections that were decrypted at least in part."""
    broken: Counter[str] = field(default_factory=Counter)
    """Connections that were decrypted only in part, by reason."""
    unread: Counter[str] = field(default_factory=Counter)
    """Connections that were not decrypted, by reason."""


@dataclass(slots=True)
class _Undecided:
    """A conversation without its first bytes so far."""

    opened: Opened
    held: list[Chunk] = field(default_factory=list)


@dataclass(slots=True)
class _Tls:
    connection: Connection
    port: int
    swapped: bool
    """Whether the capture began between SYN and ClientHello, and client and server were confused."""


class Decryption:
    """A filter that replaces the bytes of TLS conversations by their application data."""

    def __init__(
        self, keys: KeyLog, counts: TlsCounts, left_out: Counter[tuple[int, OtherProtocol]]
    ) -> None:
        self._keys = keys
        self._counts = counts
        self._left_out = left_out
        self._open: dict[int, _Undecided | _Tls] = {}

    def lets_through(self, event: Event) -> bool:
        """Return whether `feed` would return just this event."""
        return event.connection not in self._open and not isinstance(event, Opened)

    def feed(self, event: Event) -> Iterable[Event]:
        """Return the decrypted events of an event."""
        if isinstance(event, Opened):
            self._open[event.connection] = _Undecided(event)
            return ()
        state = self._open.get(event.connection)
        if state is None:
            return (event,)
        if isinstance(state, _Undecided):
            return self._begin(state, event)
        return self._go_on(state, event)

    def end(self) -> Iterator[Event]:
        """Count the open connections, and yield held events, at the end of the capture."""
        for state in self._open.values():
            if isinstance(state, _Tls):
                self._count(state)
            else:
                yield state.opened
                yield from state.held
        self._open.clear()

    def _begin(self, begun: _Undecided, event: Chunk | Lost | Closed) -> Iterator[Event]:
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
        # the ClientHello is the beginning, even without a SYN; and the bytes needed of the plaintext
        # do not tell how many encrypted bytes are needed
        yield opened._replace(whole=True, needs=NO_NEEDS)
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
        for item in tls.connection.feed(direction, event.data):
            if isinstance(item, bytes):
                plain.append(item)
                continue
            if plain:
                yield event._replace(data=b"".join(plain), comments=())
                plain.clear()
            yield Lost(number, flow, direction, ts_ns, item.bytes)
        if plain or event.comments:
            yield event._replace(data=b"".join(plain))

    def _count(self, tls: _Tls) -> None:
        trouble = tls.connection.trouble
        if tls.connection.read:
            self._counts.read += 1
            self._counts.broken.update([trouble] if trouble else [])
        else:
            self._counts.unread[trouble] += 1
            self._left_out[tls.port, "TLS"] += 1


def _first(begun: _Undecided) -> Direction:
    """Return the direction of the first bytes."""
    return next((chunk.direction for chunk in begun.held if chunk.data), "request")


def _is_tls(begun: _Undecided) -> bool | None:
    """Return whether a conversation begins with a ClientHello; None: too few bytes."""
    first = _first(begun)
    data = b"".join(chunk.data for chunk in begun.held if chunk.direction == first)
    if begun.opened.whole and first == "response":
        return False
    if len(data) < 6 and b"\x16\x03".startswith(data[:2]) and len(begun.held) < _EARLY:
        return None
    return _CLIENT_HELLO.match(data) is not None
