"""From TCP segments to the bytes of each direction in order, with their times and comments.

No I/O, bounded memory. A segment waits for those before it, and for what its sender had received
when it sent it: a capture may have packets in another order than they were sent in, and nobody answers
what he has not got. What never comes is a Gap: when `patience` bytes wait, or when the receiver
acknowledged what is missing (it had it; the capture has not) and `GRACE` segments have passed since.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from captures.tcp import ACK, FIN, RST, SYN, Endpoint, Segment
from specs.frames import Direction

PATIENCE: Final = 1 << 20
"""Bytes of a conversation that wait for a missing segment, unless told otherwise."""

GRACE: Final = 64
"""Segments of a conversation by which a packet may stand too late in the file."""

FLOWS: Final = 1 << 16
"""Conversations that are followed at once; beyond them the oldest is given up."""

_ENDED: Final = 4096
"""Conversations whose end is remembered: what comes of them again opens none."""
_WAITING: Final = 4096
"""Segments of a conversation that wait, however short they are."""
_MODULUS: Final = 1 << 32
_OLD: Final = _MODULUS - (1 << 30)
"""A number at most the largest window (1 GiB) behind is a repetition; any other is ahead."""
_FAR: Final = 1 << 28
"""An acknowledgement so far ahead of all that was seen means something else."""


class Opened(NamedTuple):
    """A conversation begins; without a handshake, the lower port is taken for the server's."""

    flow: int
    ts_ns: int
    client: Endpoint
    server: Endpoint
    comments: tuple[str, ...]
    handshake: bool = True
    """Whether its first bytes are those that come first."""


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
    """A segment that waits. Positions count the bytes of a direction, without wrapping around."""

    ahead: int
    """The position of its first byte."""
    needs: int
    """The position that its sender had received the other direction up to."""
    place: int
    """How many segments of the conversation had come with it."""
    ts_ns: int
    payload: bytes
    comments: tuple[str, ...]
    fin: bool
    packet: int


class _Half:
    """One direction of a conversation: what came in order ends at `position`."""

    def __init__(self, direction: Direction) -> None:
        self.direction: Direction = direction
        self.first: int | None = None
        """The sequence number at position 0."""
        self.position = 0
        self.acked = 0
        """The receiver has everything up to here."""
        self.early: list[_Early] = []
        self.finished = False

    def ahead(self, seq: int) -> int:
        """The position of a sequence number: before `position` if all up to it was seen."""
        if self.first is None:
            self.first = seq
        distance = (seq - self.first - self.position) % _MODULUS
        return self.position + (distance - _MODULUS if distance >= _OLD else distance)

    def acknowledge(self, ack: int) -> int:
        """The receiver has all before this sequence number; returns its position."""
        needs = self.ahead(ack)
        if needs > self.position + _FAR:
            return 0
        self.acked = max(self.acked, needs)
        return needs


class _Flow:
    """A conversation: what waits in it is delivered as soon as it can be."""

    def __init__(self, number: int, client: Endpoint, patience: int) -> None:
        self.number = number
        self.client = client
        self.patience = patience
        self.request = _Half("request")
        self.response = _Half("response")
        self.count = 0
        self.waiting = 0
        """Bytes of all that is early."""
        self.reset = False

    @property
    def over(self) -> bool:
        ended = self.reset or (self.request.finished and self.response.finished)
        return ended and not (self.request.early or self.response.early)

    def plain(self, segment: Segment, ts_ns: int, packet: int) -> tuple[Data, ...] | None:
        """What a segment brings that is in order, and nothing else waits; None: the careful way."""
        half, other = self.request, self.response
        if segment.source != self.client:
            half, other = other, half
        if segment.flags & (SYN | FIN | RST) or half.early or other.early:
            return None
        if half.first is None or other.first is None:
            return None
        distance = segment.seq - half.first - half.position
        acked = segment.ack - other.first - other.position
        if distance % _MODULUS or (self.patience and 0 < acked % _MODULUS < _OLD):
            return None
        self.count += 1
        if not acked % _MODULUS:
            other.acked = other.position
        payload = segment.payload
        if not payload:
            return ()
        half.position += len(payload)
        return (Data(self.number, half.direction, ts_ns, payload, (), packet),)

    def take(
        self,
        half: _Half,
        other: _Half,
        segment: Segment,
        ts_ns: int,
        comments: tuple[str, ...],
        packet: int,
    ) -> Iterator[Event]:
        """A segment of one direction."""
        self.count += 1
        seq, flags, payload = segment.seq, segment.flags, segment.payload
        needs = other.acknowledge(segment.ack) if flags & ACK else 0
        if flags & SYN:
            seq += 1
            if half.first is None:
                half.first = seq % _MODULUS
        fin = bool(flags & FIN)
        # Opened bears what is said of a SYN
        if payload or fin or (comments and not flags & SYN):
            ahead = half.ahead(seq)
            early = _Early(
                ahead,
                needs if self.patience else 0,
                self.count,
                ts_ns,
                payload,
                comments,
                fin,
                packet,
            )
            if (
                not (half.early or other.early)
                and ahead <= half.position
                and early.needs <= other.position
            ):
                yield from self._deliver(half, early)
                return
            bisect.insort(half.early, early, key=lambda item: item[:2])
            self.waiting += len(payload)
            yield from self._release()
        while self._overdue():
            yield from self.skip()

    def skip(self) -> Iterator[Event]:
        """Give up what the segment that has waited longest waits for."""
        halves = (self.request, self.response), (self.response, self.request)
        half, other = min(
            (pair for pair in halves if pair[0].early), key=lambda pair: pair[0].early[0].place
        )
        first = half.early[0]
        if first.ahead > half.position:
            yield self._gap(half, first.ahead, first.ts_ns)
        elif other.early and other.early[0].ahead <= other.position:
            # each waits for the other, as nobody would have sent them
            yield from self._take_out(half, 0)
        else:
            end = min([first.needs, *(item.ahead for item in other.early[:1])])
            yield self._gap(other, end, first.ts_ns)
        yield from self._release()

    def end(self) -> Iterator[Event]:
        """Nothing more will come."""
        while self.request.early or self.response.early:
            yield from self.skip()

    def _overdue(self) -> bool:
        halves = [half for half in (self.request, self.response) if half.early]
        if not halves:
            return False
        if self.waiting >= self.patience:
            return True
        if sum(len(half.early) for half in halves) > _WAITING:
            return True
        return any(
            self.count - half.early[0].place >= GRACE
            and half.early[0].ahead <= max(half.acked, half.position)
            for half in halves
        )

    def _release(self) -> Iterator[Event]:
        """Deliver all that waits no longer."""
        moved = True
        while moved:
            moved = False
            for half, other in (
                (self.request, self.response),
                (self.response, self.request),
            ):
                at = 0
                while at < len(half.early) and half.early[at].ahead <= half.position:
                    if half.early[at].needs <= other.position or other.finished:
                        yield from self._take_out(half, at)
                        moved, at = True, 0
                    else:
                        at += 1

    def _take_out(self, half: _Half, at: int) -> Iterator[Event]:
        early = half.early.pop(at)
        self.waiting -= len(early.payload)
        yield from self._deliver(half, early)

    def _deliver(self, half: _Half, early: _Early) -> Iterator[Event]:
        known = half.position - early.ahead
        if known > len(early.payload):
            return  # a repetition, and more has come since
        half.finished |= early.fin
        data = early.payload[known:]
        half.position += len(data)
        if data or (early.comments and not known):
            yield Data(self.number, half.direction, early.ts_ns, data, early.comments, early.packet)

    def _gap(self, half: _Half, end: int, ts_ns: int) -> Gap:
        size, half.position = end - half.position, end
        return Gap(self.number, half.direction, ts_ns, size)


class Reassembler:
    """Follows all conversations. Numbers count them from 1.

    With `patience` 0 a segment out of order is a Gap at once, and the two directions are as they
    stand: right for a file of ours, which repeats nothing and is in order.
    """

    def __init__(self, *, patience: int = PATIENCE) -> None:
        self._patience = patience
        self._flows: dict[tuple[Endpoint, Endpoint], _Flow] = {}
        self._ended: dict[tuple[Endpoint, Endpoint], _Flow] = {}
        self._count = 0

    def feed(
        self, segment: Segment, ts_ns: int, comments: tuple[str, ...] = (), packet: int = 0
    ) -> Iterable[Event]:
        """What a segment brings; `packet` is the number of its packet. Consume it all before the
        next call."""
        source, target = segment.source, segment.target
        key = (source, target) if source < target else (target, source)
        flow = self._flows.get(key)
        if flow is not None and not comments:
            data = flow.plain(segment, ts_ns, packet)
            if data is not None:
                return data
        return self._feed(key, flow, segment, ts_ns, comments, packet)

    def _feed(
        self,
        key: tuple[Endpoint, Endpoint],
        flow: _Flow | None,
        segment: Segment,
        ts_ns: int,
        comments: tuple[str, ...],
        packet: int,
    ) -> Iterator[Event]:
        source = segment.source
        opening = segment.flags & SYN
        if opening and flow is not None and _renewed(flow, segment):
            yield from self._close(key, ts_ns, reset=False)
            flow = None
        if flow is None:
            if not (opening or segment.payload or comments) or self._again(key, segment):
                return
            if len(self._flows) >= FLOWS:
                yield from self._close(next(iter(self._flows)), ts_ns, reset=False)
            self._count += 1
            client, server = _roles(segment)
            flow = self._flows[key] = _Flow(self._count, client, self._patience)
            remarks = comments if opening else ()
            yield Opened(flow.number, ts_ns, client, server, remarks, bool(opening))
        half, other = flow.request, flow.response
        if source != flow.client:
            half, other = other, half
        if segment.flags & RST:
            flow.reset = True
        yield from flow.take(half, other, segment, ts_ns, comments, packet)
        if flow.over:
            yield from self._close(key, ts_ns, reset=flow.reset)

    def end(self) -> Iterator[Event]:
        """The capture is over: what still waits comes behind its Gaps. Nothing more is closed."""
        for flow in self._flows.values():
            yield from flow.end()
        self._flows.clear()

    def _close(self, key: tuple[Endpoint, Endpoint], ts_ns: int, *, reset: bool) -> Iterator[Event]:
        flow = self._flows.pop(key)
        yield from flow.end()
        yield Closed(flow.number, ts_ns, reset)
        self._ended.pop(key, None)
        self._ended[key] = flow
        if len(self._ended) > _ENDED:
            del self._ended[next(iter(self._ended))]

    def _again(self, key: tuple[Endpoint, Endpoint], segment: Segment) -> bool:
        """Whether a segment repeats what a conversation had that is over."""
        flow = self._ended.get(key)
        if flow is None:
            return False
        half = flow.request if segment.source == flow.client else flow.response
        if segment.flags & SYN:
            return not _renewed(flow, segment)
        return half.ahead(segment.seq) + len(segment.payload) <= half.position


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
