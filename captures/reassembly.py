"""From TCP segments to the bytes of each direction in order, with their times and comments.

No I/O, bounded memory: segments that came too early wait for those before them until `patience`
bytes wait, or until the receiver acknowledges what is missing (it had it; the capture has not).
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Final, NamedTuple

from captures.tcp import ACK, FIN, RST, SYN, Endpoint, Segment
from specs.frames import Direction

PATIENCE: Final = 1 << 20
"""Bytes of a direction that wait for a missing segment, unless told otherwise."""

FLOWS: Final = 1 << 16
"""Conversations that are followed at once; beyond them the oldest is given up."""

_WAITING: Final = 4096
"""Segments of a direction that wait, however short they are."""
_MODULUS: Final = 1 << 32
_OLD: Final = _MODULUS - (1 << 30)
"""A number at most the largest window (1 GiB) behind is a repetition; any other is ahead."""


class Opened(NamedTuple):
    """A conversation begins; without a handshake, the lower port is taken for the server's."""

    flow: int
    ts_ns: int
    client: Endpoint
    server: Endpoint
    comments: tuple[str, ...]


class Data(NamedTuple):
    """Bytes in order; the comments are about the position behind the last of them."""

    flow: int
    direction: Direction
    ts_ns: int
    data: bytes
    comments: tuple[str, ...]
    packet: int = 0
    """Number of the packet that brought them."""


class Gap(NamedTuple):
    """So many bytes are missing before the next Data of this direction."""

    flow: int
    direction: Direction
    ts_ns: int
    size: int


class Closed(NamedTuple):
    """Both sides have finished, one has reset it, or it was given up."""

    flow: int
    ts_ns: int
    reset: bool


Event = Opened | Data | Gap | Closed


class _Early(NamedTuple):
    """A segment that waits, `ahead` bytes behind the first missing one when it came."""

    ahead: int
    ts_ns: int
    payload: bytes
    comments: tuple[str, ...]
    fin: bool
    packet: int


class _Half:
    """One direction of a conversation. `position` counts its bytes, without wrapping around."""

    def __init__(self, flow: int, direction: Direction, patience: int) -> None:
        self.flow = flow
        self.direction: Direction = direction
        self.patience = patience
        self.first: int | None = None
        """The sequence number at position 0."""
        self.position = 0
        self.early: list[_Early] = []
        self.waiting = 0
        self.finished = False

    def ahead(self, seq: int) -> int:
        """The position of a sequence number: before `position` if all up to it was seen."""
        if self.first is None:
            self.first = seq
        distance = (seq - self.first - self.position) % _MODULUS
        return self.position + (distance - _MODULUS if distance >= _OLD else distance)

    def take(
        self, segment: Segment, ts_ns: int, comments: tuple[str, ...], packet: int
    ) -> Iterator[Event]:
        """A segment of this direction."""
        fin = bool(segment.flags & FIN)
        payload = segment.payload
        if not (payload or comments or fin):
            return
        early = _Early(self.ahead(segment.seq), ts_ns, payload, comments, fin, packet)
        if early.ahead <= self.position and not self.early:
            yield from self._deliver(early)
            return
        bisect.insort(self.early, early, key=lambda item: item.ahead)
        self.waiting += len(payload)
        yield from self._ready()
        while self.early and (self.waiting >= self.patience or len(self.early) > _WAITING):
            yield from self.skip()

    def acknowledged(self, ack: int) -> Iterator[Event]:
        """The receiver has everything before this sequence number."""
        while self.early and self.ahead(ack) > self.early[0].ahead:
            yield from self.skip()

    def skip(self) -> Iterator[Event]:
        """Give up what is missing before the first segment that waits."""
        if self.early:
            first = self.early[0]
            if first.ahead > self.position:
                yield Gap(self.flow, self.direction, first.ts_ns, first.ahead - self.position)
                self.position = first.ahead
            yield from self._ready()

    def _ready(self) -> Iterator[Event]:
        while self.early and self.early[0].ahead <= self.position:
            early = self.early.pop(0)
            self.waiting -= len(early.payload)
            yield from self._deliver(early)

    def _deliver(self, early: _Early) -> Iterator[Event]:
        known = self.position - early.ahead
        if known > len(early.payload):
            return  # a repetition, and more has come since
        self.finished |= early.fin
        data = early.payload[known:]
        self.position += len(data)
        if data or (early.comments and not known):
            yield Data(self.flow, self.direction, early.ts_ns, data, early.comments, early.packet)


class _Flow:
    def __init__(self, number: int, client: Endpoint, patience: int) -> None:
        self.number = number
        self.client = client
        self.request = _Half(number, "request", patience)
        self.response = _Half(number, "response", patience)


class Reassembler:
    """Follows all conversations. Numbers count them from 1.

    With `patience` 0 a segment out of order is a Gap at once: right for a file of ours, which
    repeats nothing, so that the order of the two directions stays as it was.
    """

    def __init__(self, *, patience: int = PATIENCE) -> None:
        self._patience = patience
        self._flows: dict[tuple[Endpoint, Endpoint], _Flow] = {}
        self._count = 0

    def feed(
        self, segment: Segment, ts_ns: int, comments: tuple[str, ...] = (), packet: int = 0
    ) -> Iterator[Event]:
        """What a segment brings; `packet` is the number of its packet. Consume it all before the
        next call."""
        source, target = segment.source, segment.target
        key = (source, target) if source < target else (target, source)
        flow = self._flows.get(key)
        opening = segment.flags & SYN
        if opening and flow is not None and _renewed(flow, segment):
            yield from self._close(key, ts_ns, reset=False)
            flow = None
        if flow is None:
            if not (opening or segment.payload or comments):
                return
            if len(self._flows) >= FLOWS:
                yield from self._close(next(iter(self._flows)), ts_ns, reset=False)
            self._count += 1
            client, server = _roles(segment)
            flow = self._flows[key] = _Flow(self._count, client, self._patience)
            remarks = comments if opening else ()
            yield Opened(flow.number, ts_ns, client, server, remarks)
        half, other = flow.request, flow.response
        if source != flow.client:
            half, other = other, half
        if opening:
            half.first = (segment.seq + 1) % _MODULUS if half.first is None else half.first
            return
        yield from half.take(segment, ts_ns, comments, packet)
        if segment.flags & ACK and other.early:
            yield from other.acknowledged(segment.ack)
        if segment.flags & RST:
            yield from self._close(key, ts_ns, reset=True)
        elif half.finished and other.finished:
            yield from self._close(key, ts_ns, reset=False)

    def end(self) -> Iterator[Event]:
        """The capture is over: what still waits comes behind its Gaps. Nothing more is closed."""
        for flow in self._flows.values():
            yield from _flushed(flow)
        self._flows.clear()

    def _close(self, key: tuple[Endpoint, Endpoint], ts_ns: int, *, reset: bool) -> Iterator[Event]:
        flow = self._flows.pop(key)
        yield from _flushed(flow)
        yield Closed(flow.number, ts_ns, reset)


def _flushed(flow: _Flow) -> Iterator[Event]:
    for half in (flow.request, flow.response):
        while half.early:
            yield from half.skip()


def _renewed(flow: _Flow, segment: Segment) -> bool:
    """Whether a SYN opens another conversation between the same ports, not the same one again."""
    half = flow.request if segment.source == flow.client else flow.response
    return half.first is not None and half.first != (segment.seq + 1) % _MODULUS


def _roles(segment: Segment) -> tuple[Endpoint, Endpoint]:
    """(client, server) of a conversation's first segment that was captured."""
    ends = (segment.source, segment.target)
    if segment.flags & SYN:
        return ends[::-1] if segment.flags & ACK else ends
    return ends if segment.source[1] >= segment.target[1] else ends[::-1]
