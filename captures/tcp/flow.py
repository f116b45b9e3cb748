"""Put the TCP segments of one conversation in order, and detect its gaps.

A TCP segment waits for the segments before it, and for the bytes that its sender had received when it sent
the segment: a capture may hold packets in another order than they were sent, and a response can't precede its
request. Missing bytes become a Gap when `wait_limit` bytes wait. They also become a Gap when the receiver
acknowledged them (so only the capture lacks them) and `GRACE` TCP segments have passed since.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Final

from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.bytes_needed import Needs
from barnabas.captures.tcp.half import MODULUS, Data, Early, Gap, Half
from barnabas.captures.tcp.headers import ACK, FIN, RST, SYN, Captured
from barnabas.specs.frames import Direction

GRACE: Final = 64
"""TCP segments of a conversation by which a packet may be late in the file."""

_WAITING: Final = 4096
"""Most TCP segments of a conversation that wait, however short they are."""


class Flow:
    """A TCP conversation, which delivers data as soon as it is in order."""

    def __init__(self, number: int, client: Endpoint, wait_limit: int) -> None:
        self.number = number
        self.client = client
        self.wait_limit = wait_limit
        self.request = Half("request")
        self.response = Half("response")
        self._pairs = (self.request, self.response), (self.response, self.request)
        self.needs: Needs = {"request": self.request.needed, "response": self.response.needed}
        """Bytes that the reader of each direction needs."""
        self.count = 0
        self.waiting = 0
        """Payload bytes of all early segments."""
        self.keys: list[bytes] = []
        """The `FastTcpSegment.key` of each known direction."""
        self.reset = False
        self.ended_by: Direction | None = None
        """The direction that sent the first FIN or RST."""

    @property
    def over(self) -> bool:
        """Return whether both sides sent FIN, or one sent RST, and no segment waits."""
        ended = self.reset or (self.request.finished and self.response.finished)
        return ended and not (self.request.early or self.response.early)

    def halves(self, source: Endpoint) -> tuple[Half, Half]:
        """Return the direction that this endpoint sends, and the opposite direction."""
        return self._pairs[source != self.client]

    def take(self, captured: Captured) -> Iterator[Data | Gap]:
        """Yield the data and gaps that a TCP segment of either direction completes."""
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
        # the comments on a SYN are in Opened
        if tcp.payload or flags & (FIN | RST) or (captured.comments and not flags & SYN):
            # an RST may follow a FIN, which counts in sequence numbers but is not a byte
            ahead = half.ahead(seq) - bool(flags & RST)
            early = Early(ahead, needs if self.wait_limit else 0, self.count, captured)
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
        """Give up the bytes that the longest-waiting TCP segment waits for.

        Yields the gap, and the data that is in order after it.
        """
        waiting = (pair for pair in self._pairs if pair[0].early)
        half, other = min(waiting, key=lambda pair: pair[0].early[0].arrival)
        first = half.early[0]
        if first.ahead > half.position:
            yield self._gap(half, first.ahead, first.captured.ts_ns)
        elif other.early and other.early[0].ahead <= other.position:
            # each direction waits for the other: deliver one anyway
            yield from self._take_out(half, 0)
        else:
            end = min([first.needs, *(item.ahead for item in other.early[:1])])
            yield self._gap(other, end, first.captured.ts_ns)
        yield from self._release()

    def end(self) -> Iterator[Data | Gap]:
        """Yield everything that still waits, with gaps, at the end of the conversation."""
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
        if self.waiting >= self.wait_limit or sum(len(half.early) for half in halves) > _WAITING:
            return True
        return any(
            self.count - half.early[0].arrival >= GRACE
            and half.early[0].ahead <= max(half.acked, half.position)
            for half in halves
        )

    def _release(self) -> Iterator[Data | Gap]:
        """Yield the data of all early segments that are in order now."""
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
        delivered = half.position - early.ahead
        self.reset |= bool(tcp.flags & RST)
        if self.ended_by is None and tcp.flags & (FIN | RST):
            self.ended_by = half.direction
        if delivered > len(tcp.payload):
            return  # a retransmission of delivered bytes
        half.finished |= bool(tcp.flags & FIN)
        data = tcp.payload[delivered:]
        half.position += len(data)
        if data or (comments and not delivered):
            yield Data(self.number, half.direction, ts_ns, data, comments, packet)

    def _gap(self, half: Half, end: int, ts_ns: int) -> Gap:
        size, half.position = end - half.position, end
        return Gap(self.number, half.direction, ts_ns, size)
