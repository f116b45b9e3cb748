"""Packets that stand behind each other in a file, as arrays of what stands where."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from barnabas.captures.files.pcapng import YEAR_10000, Interface
from barnabas.pipeline.rows.exchanges import LATEST

_NS: Final = 10**9
Ints = NDArray[np.int64]


class PacketArrays(NamedTuple):
    """Packets that stand behind each other; the arrays have an item for each."""

    data: Any
    """Bytes in which they are: offsets count from its beginning."""
    base: int
    """The offset of that in the file."""
    blocks: Ints
    """Where its block or record begins."""
    starts: Ints
    """Where the packet's own bytes begin."""
    sizes: Ints
    """How many they are."""
    times: Ints
    """ns since 1970."""
    linktypes: Ints
    comments: dict[int, tuple[str, ...]]
    """By item: of those that have any."""

    def packet(self, item: int) -> bytes:
        """A packet's bytes."""
        start = int(self.starts[item])
        return bytes(self.data[start : start + int(self.sizes[item])])

    def part(self, begin: int, end: int) -> PacketArrays:
        """Some of its packets."""
        comments = {
            item - begin: said for item, said in self.comments.items() if begin <= item < end
        }
        return PacketArrays(
            self.data,
            self.base,
            self.blocks[begin:end],
            self.starts[begin:end],
            self.sizes[begin:end],
            self.times[begin:end],
            self.linktypes[begin:end],
            comments,
        )


def words(data: NDArray[np.uint8], offsets: Ints, count: int, order: str) -> Ints:
    """So many numbers of 32 bits at each offset, as an array with a row for each."""
    windows = np.lib.stride_tricks.sliding_window_view(data, 4 * count)
    return windows[offsets].view(order + "u4").astype(np.int64)


def times_of(on: Interface, ticks: Ints) -> Ints:
    """`Interface.time` of many: ns since 1970 from an interface's ticks, LATEST at most."""
    unsigned = ticks.view(np.uint64)
    if _NS % on.ticks == 0 and abs(on.offset_ns) < 1 << 62:
        each = _NS // on.ticks
        most = (YEAR_10000 - on.offset_ns - 1) // each
        last = (LATEST - on.offset_ns) // each
        least = -(on.offset_ns // each)
        fits = (unsigned >= max(0, least)) & (unsigned <= min(most, (1 << 64) - 1))
        in_time = unsigned.clip(0, last).view(np.int64) * each + on.offset_ns
        return np.where(fits, np.where(unsigned > last, LATEST, in_time), 0)
    return np.array([min(on.time(number), LATEST) for number in unsigned.tolist()], np.int64)
