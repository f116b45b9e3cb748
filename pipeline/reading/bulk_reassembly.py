"""Reassembly of many packets at once, as long as they are in order.

It does what `barnabas.captures.tcp.flow.Flow.take_fast` does packet by packet while it only gathers payload.
One comparison of arrays shows which packets are in order, and each buffer is filled once.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from barnabas.captures.tcp.flow import Flow
from barnabas.captures.tcp.half import MODULUS, OLD, Half
from barnabas.captures.tcp.headers import FIN, RST, SYN
from barnabas.pipeline.reading.tcp_segments import CAREFUL, FORWARD

_ENDS: Final = SYN | FIN | RST


class PacketFields(NamedTuple):
    """A packet: the fields of tcp_segments.SEGMENT."""

    number: int
    ts_ns: int
    at: int
    size: int
    seq: int
    ack: int
    comments: int
    flags: int
    kind: int


class BulkReassembly:
    """The packets of a run of segments (of dtype SEGMENT)."""

    def __init__(self, segments: NDArray[np.void]) -> None:
        self._segments = segments
        kind, sizes = segments["kind"], segments["size"].astype(np.int64)
        self._forward = kind & FORWARD != 0
        self._plain = (kind & CAREFUL == 0) & (segments["flags"] & _ENDS == 0)
        back, ahead = (_before(sizes, which) for which in (~self._forward, self._forward))
        self._before = back, ahead
        """Bytes of each direction before each packet, and the total."""
        self._sums = back.tolist(), ahead.tolist()
        self._payloads = tuple(
            _Payloads(segments, which & (sizes > 0)) for which in (~self._forward, self._forward)
        )
        self._base: tuple[int, int] | None = None
        """The positions at which both directions would have to begin for `_breaks` to hold."""
        self._breaks: list[int] = []
        """The packets that are out of order for that base."""

    def __len__(self) -> int:
        return len(self._segments)

    def __getitem__(self, index: int) -> PacketFields:
        return PacketFields(*self._segments[index].item())

    def absorb(self, flow: Flow, begin: int, data: memoryview, *, forward: bool) -> int:
        """Gather packets from an index on, and return the index of the first packet that was not gathered.

        Only packets that `Flow.take_fast` would gather are taken. `forward` says whether packets with FORWARD
        are requests; `data` has all payloads.
        """
        request, response = flow.request, flow.response
        if request.early or response.early or request.first is None or response.first is None:
            return begin
        halves = (response, request) if forward else (request, response)
        sums = self._sums
        requested, responded = request.first + request.position, response.first + response.position
        reached = (responded, requested) if forward else (requested, responded)
        base = ((reached[0] - sums[0][begin]) % MODULUS, (reached[1] - sums[1][begin]) % MODULUS)
        if base != self._base:
            if self._broken(begin, base, flow.wait_limit):
                return begin
            self._find_breaks(begin, base, flow.wait_limit)
        breaks = self._breaks
        next_break = bisect_left(breaks, begin)
        end = breaks[next_break] if next_break < len(breaks) else len(self)
        for direction in (0, 1):
            # a packet that completes what the reader needs is not gathered
            most = sums[direction][begin] + max(halves[direction].needed.bytes, 1)
            end = min(end, bisect_left(sums[direction], most, begin + 1) - 1)
        if end > begin:
            for direction in (0, 1):
                self._gather(direction, begin, end, halves[direction], data)
            flow.count += end - begin
        return end

    def _broken(self, index: int, base: tuple[int, int], wait_limit: int) -> bool:
        """Return whether the packet is out of order; this often makes `_find_breaks` unnecessary."""
        packet = self[index]
        direction = packet.kind & FORWARD
        expected_seq, expected_ack = (
            (base[each] + self._sums[each][index]) % MODULUS for each in (direction, 1 - direction)
        )
        acked = (packet.ack - expected_ack) % MODULUS
        return (
            not self._plain[index]
            or packet.seq != expected_seq
            or (wait_limit > 0 and 0 < acked < OLD)
        )

    def _find_breaks(self, begin: int, base: tuple[int, int], wait_limit: int) -> None:
        """Find the packets that are in order from an index on, if the directions begin at `base`."""
        forward = self._forward[begin:]
        back, ahead = (
            (base[direction] + self._before[direction][begin:-1]) % MODULUS for direction in (0, 1)
        )
        sent, heard = np.where(forward, ahead, back), np.where(forward, back, ahead)
        part = self._segments[begin:]
        acked = (part["ack"] - heard) % MODULUS
        good = self._plain[begin:] & (part["seq"] == sent)
        if wait_limit:
            good &= (acked == 0) | (acked >= OLD)
        self._breaks = (np.flatnonzero(~good) + begin).tolist()
        self._base = base

    def _gather(self, direction: int, begin: int, end: int, half: Half, data: memoryview) -> None:
        size = self._sums[direction][end] - self._sums[direction][begin]
        if not size:
            return
        with_payload = self._payloads[direction]
        first, stop = bisect_left(with_payload.items, begin), bisect_left(with_payload.items, end)
        spans = zip(with_payload.begins[first:stop], with_payload.ends[first:stop], strict=True)
        last = self[with_payload.items[stop - 1]]
        payloads = [data[at:over] for at, over in spans]
        half.gather_many(payloads, size, last.ts_ns, last.number)


class _Payloads:
    """The packets of one direction that have payload, with the offsets of that payload."""

    def __init__(self, segments: NDArray[np.void], which: NDArray[np.bool_]) -> None:
        self.items: list[int] = np.flatnonzero(which).tolist()
        starts = segments["at"][which]
        self.begins: list[int] = starts.tolist()
        self.ends: list[int] = (starts + segments["size"][which]).tolist()


def _before(sizes: NDArray[np.int64], which: NDArray[np.bool_]) -> NDArray[np.int64]:
    totals = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(np.where(which, sizes, 0), out=totals[1:])
    return totals
