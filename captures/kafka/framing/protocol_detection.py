"""Detect the conversations of a capture that speak Kafka, and their client, by their bytes alone.

A conversation is held back until it is decided, in bounded memory. A conversation that began before the
capture, or that seems to begin with a request, is decided by its first whole request. Where one direction
only was captured, it may be decided by its responses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from barnabas.captures.kafka.exchange import GSSAPI_START
from barnabas.captures.kafka.framing.frame_resync import FrameResync
from barnabas.captures.kafka.framing.inference import SEARCHED_BYTES, of_one_api
from barnabas.captures.kafka.framing.stream_framing import FRAME_LIMIT
from barnabas.captures.tcp.bytes_needed import swapped
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.specs.frames import DIRECTIONS, OPPOSITE, Direction
from barnabas.specs.registry import NAMES

HELD: Final = 4 << 20
"""Bytes of a conversation by which it must be decided."""

HELD_IN_ALL: Final = 256 << 20
"""Bytes of all undecided conversations; beyond that the oldest is dropped."""

OtherProtocol = Literal["TLS", "HTTP", "unknown"]

RESPONSES: Final = 10
"""The most responses that are looked at to decide a conversation."""

_START: Final = 14
"""Bytes that identify the beginning of a stream: a size, and a header up to the client id's length."""
_BEGUN: Final = 1 << 15
"""Bytes that are stored to identify other protocols: enough for two TLS records."""
_VERSIONS: Final = 100
_TOKEN_LIMIT: Final = 1 << 16
_TLS: Final = re.compile(rb"[\x14-\x17]\x03[\x00-\x04]([\x00-\x41].)", re.DOTALL)
_HTTP: Final = re.compile(
    rb"(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|PRI) [/*a-zA-Z]|HTTP/\d"
)


@dataclass(slots=True)
class _Side:
    """One direction of an undecided conversation."""

    search: FrameResync = field(default_factory=FrameResync)
    aligned: bool = False
    """Whether the first byte is the first of its stream."""
    first_bytes: bytearray = field(default_factory=bytearray)
    """The first bytes."""
    size: int = 0
    """Bytes received."""
    whole: bool = True
    """Whether no bytes before them are known to be missing."""


@dataclass(slots=True)
class _Undecided:
    opened: Opened
    sides: dict[Direction, _Side]
    held: list[Event] = field(default_factory=list)
    size: int = 0


@dataclass(slots=True)
class ProtocolDetection:
    """A filter that passes the conversations that speak Kafka, and counts the others.

    Passed conversations are numbered from `base` + 1.
    """

    base: int = 0
    left_out: Counter[tuple[int, OtherProtocol]] = field(default_factory=Counter)
    """Conversations of other protocols, by server port and protocol."""
    renumbers: bool = True
    """Whether to number them; else each keeps its number."""
    _undecided: dict[int, _Undecided] = field(default_factory=dict)
    _decided: dict[int, tuple[int, bool]] = field(default_factory=dict)
    """The new number of each passed conversation, and whether its ends are swapped."""
    _size: int = 0

    def feed(self, event: Event) -> Iterable[Event]:
        """Return the events that an event releases: itself, with held events before it, or none."""
        number = event.connection
        if number in self._decided:
            renamed = self._renamed(event)
            if isinstance(event, Closed):
                del self._decided[number]
            return (renamed,)
        if isinstance(event, Opened):
            sides = {direction: _Side(aligned=event.whole) for direction in DIRECTIONS}
            self._undecided[number] = _Undecided(event, sides)
            return ()
        return self._undecided_event(event)

    def _undecided_event(self, event: Chunk | Lost | Closed) -> Iterator[Event]:
        number = event.connection
        undecided = self._undecided.get(number)
        if undecided is None:
            return
        if isinstance(event, Closed):
            yield from self._end_of(number)
            if number in self._decided:
                yield self._renamed(event)
                del self._decided[number]
            return
        side = undecided.sides[event.direction]
        if isinstance(event, Lost):
            if side.first_bytes and _broker(undecided) == event.direction:
                yield from self._pass_responses(number, event.direction)
                yield self._renamed(event)
                return
            undecided.held.append(event)
            side.aligned = side.whole = False
            side.search.clear()
            side.first_bytes.clear()
            side.size = 0
            return
        undecided.held.append(event)
        size = len(event.data)
        undecided.size += size
        side.size += size
        self._size += size
        if len(side.first_bytes) < _BEGUN:
            side.first_bytes += event.data[: _BEGUN - len(side.first_bytes)]
        client = _client(undecided, event)
        if client is not None:
            yield from self._pass(number, swapped=client == "response")
        elif undecided.size > HELD or _certain(undecided):
            yield from self._end_of(number)
        while self._size > HELD_IN_ALL:
            yield from self._end_of(next(iter(self._undecided)))

    def end(self) -> Iterator[Event]:
        """Yield the events of conversations of which only responses were captured; drop the others."""
        for number in sorted(self._undecided):
            yield from self._end_of(number)

    def _end_of(self, number: int) -> Iterator[Event]:
        """Decide a conversation without a request."""
        broker = _broker(self._undecided[number])
        if broker is None:
            self._leave_out(number)
        else:
            yield from self._pass_responses(number, broker)

    def _pass_responses(self, number: int, broker: Direction) -> Iterator[Event]:
        """Pass a conversation of which only the responses were captured, in this direction."""
        return self._pass(number, swapped=broker == "request", responses_only=True)

    def _pass(self, number: int, *, swapped: bool, responses_only: bool = False) -> Iterator[Event]:
        undecided = self._undecided.pop(number)
        self._size -= undecided.size
        self.base += 1
        passed = self.base if self.renumbers else number
        self._decided[number] = passed, swapped
        opened = undecided.opened
        yield self._renamed(opened)
        if not opened.whole:
            yield Lost(passed, "arrived", "request", opened.ts_ns, 0)
            if not responses_only:  # these begin with a frame
                yield Lost(passed, "arrived", "response", opened.ts_ns, 0)
        for event in undecided.held:
            yield self._renamed(event)

    def _leave_out(self, number: int) -> None:
        undecided = self._undecided.pop(number)
        self._size -= undecided.size
        if undecided.size:
            port = int(undecided.opened.server.rpartition(":")[2])
            self.left_out[port, _protocol(undecided)] += 1

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
    """Return the direction that sends requests; None: undecided after this chunk."""
    side = undecided.sides[chunk.direction]
    if undecided.opened.roles_known and chunk.direction == "response":
        return None  # the other side opened the connection
    is_client = (
        _has_request(side, undecided) if side.aligned else side.search.feed(chunk.data).begins
    )
    return chunk.direction if is_client else None


def _broker(undecided: _Undecided) -> Direction | None:
    """Return the direction that sends responses, if only this one was captured, from the start of a frame."""
    captured = [direction for direction, side in undecided.sides.items() if side.first_bytes]
    if len(captured) != 1:
        return None
    (direction,) = captured
    known = undecided.opened.roles_known
    side = undecided.sides[direction]
    if not side.whole or (known and direction == "request"):
        return None
    held = (event.data for event in undecided.held if isinstance(event, Chunk))
    return direction if begins_with_responses(b"".join(held)) else None


def begins_with_responses(data: bytes) -> bool:
    """Return whether a stream begins with responses, one of which can be read as one API only.

    Their correlation ids differ and are not negative; ZooKeeper and others repeat theirs.

    >>> begins_with_responses(bytes.fromhex("0000000a 00000001 0000 00000000"))
    False
    """
    at, fits = 0, False
    ids: set[int] = set()
    while len(ids) < RESPONSES and len(data) - at >= 8:
        size = int.from_bytes(data[at : at + 4], signed=True)
        frame = data[at + 4 : at + 4 + size]
        correlation_id = int.from_bytes(frame[:4], signed=True)
        if not 4 <= size <= FRAME_LIMIT or correlation_id < 0 or correlation_id in ids:
            return False
        if len(frame) < size:
            break
        if not fits and size <= SEARCHED_BYTES:
            fits = of_one_api(frame)
        ids.add(correlation_id)
        at += 4 + size
    return fits


def _has_request(side: _Side, undecided: _Undecided) -> bool:
    """Return whether a stream begins with a request that is whole, or too large to wait for."""
    size = int.from_bytes(side.first_bytes[:4], signed=True)
    whole = side.size >= 4 + size or undecided.size > HELD
    return whole and begins_with_request(side.first_bytes)


def begins_with_request(data: bytes | bytearray) -> bool:
    """Return whether a stream begins with a request, by its first bytes (at least 14)."""
    size = int.from_bytes(data[:4], signed=True)
    if len(data) >= 5 and data[4] == GSSAPI_START and 0 < size <= _TOKEN_LIMIT:
        return True
    if len(data) < _START or not 8 <= size <= FRAME_LIMIT:
        return False
    key, version = int.from_bytes(data[4:6]), int.from_bytes(data[6:8])
    name = int.from_bytes(data[12:14], signed=True)
    return key in NAMES and version < _VERSIONS and -1 <= name <= size - 10


def _certain(undecided: _Undecided) -> bool:
    """Return whether an undecided conversation certainly speaks another protocol."""
    side = undecided.sides["request"]
    if side.aligned:
        return len(side.first_bytes) >= _START and not begins_with_request(side.first_bytes)
    return _protocol(undecided) != "unknown"


def _protocol(undecided: _Undecided) -> OtherProtocol:
    for side in undecided.sides.values():
        if _HTTP.match(side.first_bytes):
            return "HTTP"
        if side.aligned:
            if _TLS.match(side.first_bytes):
                return "TLS"
        elif _chained(bytes(side.first_bytes)):
            return "TLS"
    return "unknown"


def _chained(data: bytes) -> bool:
    """Return whether two TLS records follow each other anywhere."""
    return any(
        _TLS.match(data, match.end() + int.from_bytes(match[1])) for match in _TLS.finditer(data)
    )
