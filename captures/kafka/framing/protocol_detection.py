"""Finds the conversations of a capture that speak Kafka, and their client, by their bytes alone.

A conversation is held back until it is decided, in bounded memory. One that began before the capture is
decided by its first whole request, and so is one that begins as if with a request.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from barnabas.captures.kafka.exchange import GSSAPI_START
from barnabas.captures.kafka.framing.frame_resync import FrameResync
from barnabas.captures.kafka.framing.stream_framing import FRAME_LIMIT
from barnabas.captures.tcp.bytes_needed import swapped
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.specs.frames import DIRECTIONS, OPPOSITE, Direction
from barnabas.specs.registry import NAMES

HELD: Final = 4 << 20
"""Bytes of a conversation by which it must be decided."""

HELD_IN_ALL: Final = 256 << 20
"""Bytes of all conversations that are not decided; above it the oldest is left out."""

Kind = Literal["TLS", "HTTP", "unknown"]

_START: Final = 14
"""Bytes by which the beginning of a stream is known: a size and a header with a client id's length."""
_BEGUN: Final = 1 << 15
"""Bytes that are kept to say what it is: two TLS records, if there are any."""
_VERSIONS: Final = 100
_TOKEN_LIMIT: Final = 1 << 16
_TLS: Final = re.compile(rb"[\x14-\x17]\x03[\x00-\x04]([\x00-\x41].)", re.DOTALL)
_HTTP: Final = re.compile(
    rb"(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|PRI) [/*a-zA-Z]|HTTP/\d"
)


@dataclass(slots=True)
class _Side:
    """One direction of a conversation that is not decided."""

    search: FrameResync = field(default_factory=FrameResync)
    aligned: bool = False
    """Whether the first byte is the first of its stream."""
    begun: bytearray = field(default_factory=bytearray)
    """How it began."""
    size: int = 0
    """Bytes that came."""


@dataclass(slots=True)
class _Undecided:
    opened: Opened
    sides: dict[Direction, _Side]
    held: list[Event] = field(default_factory=list)
    size: int = 0


@dataclass(slots=True)
class ProtocolDetection:
    """Passes on the conversations that speak Kafka, numbered from `base` + 1; counts the others."""

    base: int = 0
    left_out: Counter[tuple[int, Kind]] = field(default_factory=Counter)
    """Conversations that speak something else, by their server's port and what it is."""
    renumbers: bool = True
    """Whether they are counted; else each keeps the number that it came with."""
    _undecided: dict[int, _Undecided] = field(default_factory=dict)
    _decided: dict[int, tuple[int, bool]] = field(default_factory=dict)
    """Number under which a conversation is passed on, and whether its ends change places."""
    _size: int = 0

    def feed(self, event: Event) -> Iterable[Event]:
        """What an event brings to light: itself, what was held back, or nothing."""
        number = event.connection
        if number in self._decided:
            renamed = self._renamed(event)
            if isinstance(event, Closed):
                del self._decided[number]
            return (renamed,)
        if isinstance(event, Opened):
            sides = {way: _Side(aligned=event.whole) for way in DIRECTIONS}
            self._undecided[number] = _Undecided(event, sides)
            return ()
        return self._undecided_event(event)

    def _undecided_event(self, event: Chunk | Lost | Closed) -> Iterator[Event]:
        number = event.connection
        undecided = self._undecided.get(number)
        if undecided is None:
            return
        if isinstance(event, Closed):
            self._leave_out(number)
            return
        undecided.held.append(event)
        side = undecided.sides[event.direction]
        if isinstance(event, Lost):
            side.aligned = False
            side.search.clear()
            side.begun.clear()
            side.size = 0
            return
        size = len(event.data)
        undecided.size += size
        side.size += size
        self._size += size
        if len(side.begun) < _BEGUN:
            side.begun += event.data[: _BEGUN - len(side.begun)]
        client = _client(undecided, event)
        if client is not None:
            yield from self._pass(number, swapped=client == "response")
        elif undecided.size > HELD or _certain(undecided):
            self._leave_out(number)
        while self._size > HELD_IN_ALL:
            self._leave_out(next(iter(self._undecided)))

    def end(self) -> None:
        """The capture is over: what is not decided by now is left out."""
        for number in list(self._undecided):
            self._leave_out(number)

    def _pass(self, number: int, *, swapped: bool) -> Iterator[Event]:
        undecided = self._undecided.pop(number)
        self._size -= undecided.size
        self.base += 1
        passed = self.base if self.renumbers else number
        self._decided[number] = passed, swapped
        opened = undecided.opened
        yield self._renamed(opened)
        if not opened.whole:
            for direction in DIRECTIONS:
                yield Lost(passed, "arrived", direction, opened.ts_ns, 0)
        for event in undecided.held:
            yield self._renamed(event)

    def _leave_out(self, number: int) -> None:
        undecided = self._undecided.pop(number)
        self._size -= undecided.size
        if undecided.size:
            port = int(undecided.opened.server.rpartition(":")[2])
            self.left_out[port, _kind(undecided)] += 1

    def _renamed(self, event: Event) -> Event:
        number, turned = self._decided[event.connection]
        if not turned and number == event.connection:
            return event
        if not turned:
            return event._replace(connection=number)
        if isinstance(event, Closed):
            by = None if event.by is None else OPPOSITE[event.by]
            return event._replace(connection=number, by=by)
        if isinstance(event, Opened):
            client, server = event.server, event.client
            needs = swapped(event.needs)
            return event._replace(connection=number, client=client, server=server, needs=needs)
        return event._replace(connection=number, direction=OPPOSITE[event.direction])


def _client(undecided: _Undecided, chunk: Chunk) -> Direction | None:
    """Who sends requests, as far as the bytes that have just come tell."""
    side = undecided.sides[chunk.direction]
    if undecided.opened.whole and chunk.direction == "response":
        return None  # the other one opened the connection
    found = _has_request(side, undecided) if side.aligned else side.search.feed(chunk.data).found
    return chunk.direction if found else None


def _has_request(side: _Side, undecided: _Undecided) -> bool:
    """Return whether a stream begins with a request that is whole, or too large to wait for."""
    size = int.from_bytes(side.begun[:4], signed=True)
    whole = side.size >= 4 + size or undecided.size > HELD
    return whole and begins_with_request(side.begun)


def begins_with_request(data: bytes | bytearray) -> bool:
    """Whether a stream begins with a request: its first bytes, at least 14 of them."""
    size = int.from_bytes(data[:4], signed=True)
    if len(data) >= 5 and data[4] == GSSAPI_START and 0 < size <= _TOKEN_LIMIT:
        return True
    if len(data) < _START or not 8 <= size <= FRAME_LIMIT:
        return False
    key, version = int.from_bytes(data[4:6]), int.from_bytes(data[6:8])
    name = int.from_bytes(data[12:14], signed=True)
    return key in NAMES and version < _VERSIONS and -1 <= name <= size - 10


def _certain(undecided: _Undecided) -> bool:
    """Whether an undecided conversation speaks something else."""
    asked = undecided.sides["request"]
    if asked.aligned:
        return len(asked.begun) >= _START and not begins_with_request(asked.begun)
    return _kind(undecided) != "unknown"


def _kind(undecided: _Undecided) -> Kind:
    for side in undecided.sides.values():
        if _HTTP.match(side.begun):
            return "HTTP"
        if side.aligned:
            if _TLS.match(side.begun):
                return "TLS"
        elif _chained(bytes(side.begun)):
            return "TLS"
    return "unknown"


def _chained(data: bytes) -> bool:
    """Whether two TLS records stand one behind the other somewhere."""
    return any(
        _TLS.match(data, match.end() + int.from_bytes(match[1])) for match in _TLS.finditer(data)
    )
