"""Reassembly of many packets at once, where they are in order.

What `barnabas.captures.tcp.flow.Flow.take_fast` does with one packet after the other, for as long as it would
only gather: whether packets stand in order is one comparison of arrays, and each buffer is filled once.
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


class One(NamedTuple):
    """A packet: the fields of segments.SEGMENT."""

    number: int
    ts_ns: int
    at: int
    size: int
    seq: int
    ack: int
    said: int
    flags: int
    kind: int


class BulkReassembly:
    """The packets of a run of segments (of dtype SEGMENT)."""

    def __init__(self, segments: NDArray[np.void]) -> None:
        self._segments = segments
        kind, sizes = segments["kind"], segments["size"].astype(np.int64)
        self._forward = kind & FORWARD != 0
        self._usual = (kind & CAREFUL == 0) & (segments["flags"] & _ENDS == 0)
        back, ahead = (_before(sizes, which) for which in (~self._forward, self._forward))
        self._before = back, ahead
        """Bytes of each direction before each packet, and of all."""
        self._sums = back.tolist(), ahead.tolist()
        self._payloads = tuple(
            _Payloads(segments, which & (sizes > 0)) for which in (~self._forward, self._forward)
        )
        self._base: tuple[int, int] | None = None
        """Where both directions would have to begin for what follows to be known."""
        self._breaks: list[int] = []
        """The packets that are not in order then."""

    def __len__(self) -> int:
        return len(self._segments)

    def __getitem__(self, index: int) -> One:
        return One(*self._segments[index].item())

    def absorb(self, flow: Flow, begin: int, data: memoryview, *, forward: bool) -> int:
        """Take packets that `Flow.take_fast` would only gather, from an index on; returns the index of the
        first one that was not. forward: whether those that go forward are requests; data: what holds all."""
        request, response = flow.request, flow.response
        if request.early or response.early or request.first is None or response.first is None:
            return begin
        halves = (response, request) if forward else (request, response)
        sums = self._sums
        asked, answered = request.first + request.position, response.first + response.position
        reached = (answered, asked) if forward else (asked, answered)
        base = ((reached[0] - sums[0][begin]) % MODULUS, (reached[1] - sums[1][begin]) % MODULUS)
        if base != self._base:
            if self._broken(begin, base, flow.patience):
                return begin
            self._look(begin, base, flow.patience)
        breaks = self._breaks
        known = bisect_left(breaks, begin)
        end = breaks[known] if known < len(breaks) else len(self)
        for way in (0, 1):
            # one that is all its reader needs is not gathered
            most = sums[way][begin] + max(halves[way].needed.bytes, 1)
            end = min(end, bisect_left(sums[way], most, begin + 1) - 1)
        if end > begin:
            for way in (0, 1):
                self._gather(way, begin, end, halves[way], data)
            flow.count += end - begin
        return end

    def _broken(self, index: int, base: tuple[int, int], patience: int) -> bool:
        """Whether a packet is not in order: often enough nothing else has to be looked at."""
        one = self[index]
        way = one.kind & FORWARD
        here, there = ((base[each] + self._sums[each][index]) % MODULUS for each in (way, 1 - way))
        acked = (one.ack - there) % MODULUS
        return not self._usual[index] or one.seq != here or (patience > 0 and 0 < acked < OLD)

    def _look(self, begin: int, base: tuple[int, int], patience: int) -> None:
        """Find what is in order from a packet on, if the directions begin there."""
        forward = self._forward[begin:]
        back, ahead = ((base[way] + self._before[way][begin:-1]) % MODULUS for way in (0, 1))
        sent, heard = np.where(forward, ahead, back), np.where(forward, back, ahead)
        part = self._segments[begin:]
        acked = (part["ack"] - heard) % MODULUS
        good = self._usual[begin:] & (part["seq"] == sent)
        if patience:
            good &= (acked == 0) | (acked >= OLD)
        self._breaks = (np.flatnonzero(~good) + begin).tolist()
        self._base = base

    def _gather(self, way: int, begin: int, end: int, half: Half, data: memoryview) -> None:
        size = self._sums[way][end] - self._sums[way][begin]
        if not size:
            return
        found = self._payloads[way]
        first, stop = bisect_left(found.items, begin), bisect_left(found.items, end)
        places = zip(found.begins[first:stop], found.ends[first:stop], strict=True)
        last = self[found.items[stop - 1]]
        payloads = [data[at:over] for at, over in places]
        half.gather_many(payloads, size, last.ts_ns, last.number)


class _Payloads:
    """The packets of one direction that have any payload, and from where to where it stands."""

    def __init__(self, segments: NDArray[np.void], which: NDArray[np.bool_]) -> None:
        self.items: list[int] = np.flatnonzero(which).tolist()
        places = segments["at"][which]
        self.begins: list[int] = places.tolist()
        self.ends: list[int] = (places + segments["size"][which]).tolist()


def _before(sizes: NDArray[np.int64], which: NDArray[np.bool_]) -> NDArray[np.int64]:
    found = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(np.where(which, sizes, 0), out=found[1:])
    return found
