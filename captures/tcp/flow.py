"""One TCP conversation: its TCP segments put in order, and its gaps.

A TCP segment waits for those before it, and for what its sender had received when it sent it: a capture may
have packets in another order than they were sent in, and nobody answers what he has not got. What never
comes is a Gap: when `patience` bytes wait, or when the receiver acknowledged what is missing (it had it;
the capture has not) and `GRACE` TCP segments have passed since.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Final

from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.bytes_needed import Needs
from barnabas.captures.tcp.fast_headers import FastTcpSegment
from barnabas.captures.tcp.half import MODULUS, OLD, Data, Early, Gap, Half
from barnabas.captures.tcp.headers import ACK, FIN, RST, SYN, Captured
from barnabas.specs.frames import Direction

GRACE: Final = 64
"""TCP segments of a conversation by which a packet may stand too late in the file."""

_WAITING: Final = 4096
"""TCP segments of a conversation that wait, however short they are."""


class Flow:
    """A conversation: what waits in it is delivered as soon as it can be."""

    def __init__(self, number: int, client: Endpoint, patience: int) -> None:
        self.number = number
        self.client = client
        self.patience = patience
        self.request = Half("request")
        self.response = Half("response")
        self._pairs = (self.request, self.response), (self.response, self.request)
        self.needs: Needs = {"request": self.request.needed, "response": self.response.needed}
        """What the reader of each direction needs."""
        self.count = 0
        self.waiting = 0
        """Bytes of all that is early."""
        self.keys: list[bytes] = []
        """See `FastTcpSegment.key`: what its packets are known by."""
        self.reset = False
        self.ended_by: Direction | None = None
        """The direction that was finished or reset first."""

    @property
    def over(self) -> bool:
        """Whether both sides have finished, or one has reset it, and nothing waits any more."""
        ended = self.reset or (self.request.finished and self.response.finished)
        return ended and not (self.request.early or self.response.early)

    def halves(self, source: Endpoint) -> tuple[Half, Half]:
        """The direction that comes from there, and the other one."""
        return self._pairs[source != self.client]

    def take_fast(
        self,
        half: Half,
        other: Half,
        found: FastTcpSegment,
        data: memoryview,
        ts_ns: int,
        packet: int,
    ) -> tuple[Data, ...] | None:
        """What a packet of the usual form brings that is in order while nothing else waits; None:
        take it with care. The same as `fast_reassembly` finds in runs."""
        _, seq, ack, flags, start, end = found
        if flags & (SYN | FIN | RST) or half.early or other.early:
            return None
        if half.first is None or other.first is None:
            return None
        acked = (ack - other.first - other.position) % MODULUS
        if (seq - half.first - half.position) % MODULUS or (self.patience and 0 < acked < OLD):
            return None
        self.count += 1
        payload = half.gather(data[start:end], ts_ns, packet) if start < end else b""
        return (Data(self.number, half.direction, ts_ns, payload, (), packet),) if payload else ()

    def take(self, captured: Captured) -> Iterator[Data | Gap]:
        """A TCP segment of either direction."""
        yield from self._flush()
        self.count += 1
        tcp, flags = captured.tcp, captured.tcp.flags
        half, other = self.halves(tcp.source)
        seq = tcp.seq
        needs = other.acknowledge(tcp.ack) if flags & ACK else 0
        if flags & SYN:
            seq += 1
            if half.first is None:
                half.first = seq % MODULUS
        # Opened bears what is said of a SYN
        if tcp.payload or flags & (FIN | RST) or (captured.comments and not flags & SYN):
            # a reset may stand behind a FIN, which is no byte
            ahead = half.ahead(seq) - bool(flags & RST)
            early = Early(ahead, needs if self.patience else 0, self.count, captured)
            if (
                not (half.early or other.early)
                and ahead <= half.position
                and early.needs <= other.position
            ):
                yield from self._deliver(half, early)
                return
            bisect.insort(half.early, early, key=lambda item: item[:2])
            self.waiting += len(tcp.payload)
            yield from self._release()
        while self._overdue():
            yield from self.skip()

    def skip(self) -> Iterator[Data | Gap]:
        """Give up what the TCP segment that has waited longest waits for."""
        waiting = (pair for pair in self._pairs if pair[0].early)
        half, other = min(waiting, key=lambda pair: pair[0].early[0].place)
        first = half.early[0]
        if first.ahead > half.position:
            yield self._gap(half, first.ahead, first.captured.ts_ns)
        elif other.early and other.early[0].ahead <= other.position:
            # each waits for the other, as nobody would have sent them
            yield from self._take_out(half, 0)
        else:
            end = min([first.needs, *(item.ahead for item in other.early[:1])])
            yield self._gap(other, end, first.captured.ts_ns)
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
        if self.waiting >= self.patience or sum(len(half.early) for half in halves) > _WAITING:
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
            for half, other in self._pairs:
                index = 0
                while index < len(half.early) and half.early[index].ahead <= half.position:
                    if half.early[index].needs <= other.position or other.finished:
                        yield from self._take_out(half, index)
                        moved, index = True, 0
                    else:
                        index += 1

    def _take_out(self, half: Half, index: int) -> Iterator[Data | Gap]:
        early = half.early.pop(index)
        self.waiting -= len(early.captured.tcp.payload)
        yield from self._deliver(half, early)

    def _deliver(self, half: Half, early: Early) -> Iterator[Data]:
        tcp, ts_ns, comments, packet = early.captured
        known = half.position - early.ahead
        self.reset |= bool(tcp.flags & RST)
        if self.ended_by is None and tcp.flags & (FIN | RST):
            self.ended_by = half.direction
        if known > len(tcp.payload):
            return  # a repetition, and more has come since
        half.finished |= bool(tcp.flags & FIN)
        data = tcp.payload[known:]
        half.position += len(data)
        if data or (comments and not known):
            yield Data(self.number, half.direction, ts_ns, data, comments, packet)

    def _gap(self, half: Half, end: int, ts_ns: int) -> Gap:
        size, half.position = end - half.position, end
        return Gap(self.number, half.direction, ts_ns, size)
