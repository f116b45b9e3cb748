"""One conversation: its segments in the order of its bytes, with what is missing.

A segment waits for those before it, and for what its sender had received when it sent it: a capture may
have packets in another order than they were sent in, and nobody answers what he has not got. What never
comes is a Gap: when `patience` bytes wait, or when the receiver acknowledged what is missing (it had it;
the capture has not) and `GRACE` segments have passed since.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from barnabas.captures.addresses import Endpoint
from barnabas.captures.tcp.bytes_needed import Demand
from barnabas.captures.tcp.fast_headers import Usual
from barnabas.captures.tcp.headers import ACK, FIN, RST, SYN, Segment
from barnabas.specs.frames import Direction

GRACE: Final = 64
"""Segments of a conversation by which a packet may stand too late in the file."""

MODULUS: Final = 1 << 32
_WAITING: Final = 4096
"""Segments of a conversation that wait, however short they are."""
OLD: Final = MODULUS - (1 << 30)
"""A number at most the largest window (1 GiB) behind is a repetition; any other is ahead."""
_PIECE: Final = 1 << 16
"""Bytes of short payloads that are gathered in one buffer."""
_FAR: Final = 1 << 28
"""An acknowledgement so far ahead of all that was seen means something else."""


def signed_distance(seq: int, other: int) -> int:
    """How far a sequence number is ahead of another; negative: behind it.

    >>> signed_distance(5, 2**32 - 5), signed_distance(2**32 - 5, 5)
    (10, -10)
    """
    distance = (seq - other) % MODULUS
    return distance - MODULUS if distance >= OLD else distance


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
    rst: bool = False


class Half:
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
        self.demand = Demand()
        self._gathered: list[bytearray | memoryview] = []
        """What came in order and does not meet the demand yet."""
        self._latest = 0, 0
        """Time and packet of the last of it."""

    def ahead(self, seq: int) -> int:
        """The position of a sequence number: before `position` if all up to it was seen."""
        if self.first is None:
            self.first = seq
        return self.position + signed_distance(seq, self.first + self.position)

    def gather(self, payload: memoryview, ts_ns: int, packet: int) -> bytes:
        """Take what comes in order. Returns all that was gathered once that meets the demand."""
        size = len(payload)
        self.position += size
        demand, gathered = self.demand, self._gathered
        if size < demand.bytes:
            demand.bytes -= size
            # a few large buffers: one alone would be moved whenever it grows
            last = gathered[-1] if gathered else None
            if isinstance(last, bytearray) and len(last) + size <= _PIECE:
                last += payload
            else:
                gathered.append(bytearray(payload))
            self._latest = ts_ns, packet
            return b""
        demand.bytes = 0
        if not gathered:
            return bytes(payload)
        self._gathered = []
        return b"".join((*gathered, payload))

    def gather_many(
        self, payloads: Sequence[memoryview], size: int, ts_ns: int, packet: int
    ) -> None:
        """Take several that come in order and don't meet the demand, at once. They must stay as they are
        until they are used. size: bytes of them all; ts_ns, packet: of the last one."""
        self.position += size
        self.demand.bytes -= size
        self._gathered.extend(payloads)
        self._latest = ts_ns, packet

    def flush(self, flow: int) -> Iterator[Data]:
        """What was gathered, though the demand is not met."""
        if self._gathered:
            data, self._gathered = b"".join(self._gathered), []
            ts_ns, packet = self._latest
            yield Data(flow, self.direction, ts_ns, data, (), packet)

    def acknowledge(self, ack: int) -> int:
        """The receiver has all before this sequence number; returns its position."""
        needs = self.ahead(ack)
        if needs > self.position + _FAR:
            return 0
        self.acked = max(self.acked, needs)
        return needs


class Flow:
    """A conversation: what waits in it is delivered as soon as it can be."""

    def __init__(self, number: int, client: Endpoint, patience: int) -> None:
        self.number = number
        self.client = client
        self.patience = patience
        self.request = Half("request")
        self.response = Half("response")
        self.count = 0
        self.waiting = 0
        """Bytes of all that is early."""
        self.keys: list[bytes] = []
        """See `Usual.key`: what its packets are known by."""
        self.reset = False

    @property
    def over(self) -> bool:
        """Whether both sides have finished, or one has reset it, and nothing waits any more."""
        ended = self.reset or (self.request.finished and self.response.finished)
        return ended and not (self.request.early or self.response.early)

    def plain(
        self, half: Half, other: Half, found: Usual, data: memoryview, ts_ns: int, packet: int
    ) -> tuple[Data, ...] | None:
        """What a packet of the usual form brings that is in order while nothing else waits; None:
        take it with care. The same as `skimming` finds in runs of them."""
        _, seq, ack, flags, start, end = found
        if flags & (SYN | FIN | RST) or half.early or other.early:
            return None
        if half.first is None or other.first is None:
            return None
        acked = (ack - other.first - other.position) % MODULUS
        if (seq - half.first - half.position) % MODULUS or (self.patience and 0 < acked < OLD):
            return None
        self.count += 1
        if not acked:
            other.acked = other.position
        payload = half.gather(data[start:end], ts_ns, packet) if start < end else b""
        return (Data(self.number, half.direction, ts_ns, payload, (), packet),) if payload else ()

    def take(
        self,
        half: Half,
        other: Half,
        segment: Segment,
        ts_ns: int,
        comments: tuple[str, ...],
        packet: int,
    ) -> Iterator[Data | Gap]:
        """A segment of one direction."""
        yield from self._flush()
        self.count += 1
        seq, flags, payload = segment.seq, segment.flags, segment.payload
        needs = other.acknowledge(segment.ack) if flags & ACK else 0
        if flags & SYN:
            seq += 1
            if half.first is None:
                half.first = seq % MODULUS
        fin, rst = bool(flags & FIN), bool(flags & RST)
        # Opened bears what is said of a SYN
        if payload or fin or rst or (comments and not flags & SYN):
            # a reset may stand behind a FIN, which is no byte
            ahead = half.ahead(seq) - rst
            early = _Early(
                ahead,
                needs if self.patience else 0,
                self.count,
                ts_ns,
                payload,
                comments,
                fin,
                packet,
                rst,
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

    def skip(self) -> Iterator[Data | Gap]:
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

    def end(self) -> Iterator[Data | Gap]:
        """Nothing more will come."""
        yield from self._flush()
        while self.request.early or self.response.early:
            yield from self.skip()

    def _flush(self) -> Iterator[Data]:
        yield from self.request.flush(self.number)
        yield from self.response.flush(self.number)

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

    def _release(self) -> Iterator[Data | Gap]:
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

    def _take_out(self, half: Half, at: int) -> Iterator[Data | Gap]:
        early = half.early.pop(at)
        self.waiting -= len(early.payload)
        yield from self._deliver(half, early)

    def _deliver(self, half: Half, early: _Early) -> Iterator[Data]:
        known = half.position - early.ahead
        self.reset |= early.rst
        if known > len(early.payload):
            return  # a repetition, and more has come since
        half.finished |= early.fin
        data = early.payload[known:]
        half.position += len(data)
        if data or (early.comments and not known):
            yield Data(self.number, half.direction, early.ts_ns, data, early.comments, early.packet)

    def _gap(self, half: Half, end: int, ts_ns: int) -> Gap:
        size, half.position = end - half.position, end
        return Gap(self.number, half.direction, ts_ns, size)
