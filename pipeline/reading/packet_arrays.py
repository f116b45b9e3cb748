"""Consecutive packets as arrays of offsets, sizes and times, read from enhanced packet blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from barnabas.captures.files.block_body import read_block
from barnabas.captures.files.pcapng import (
    BEFORE,
    ENHANCED_LEAST,
    YEAR_10000,
    CaptureError,
    Interface,
    Packet,
    check_end,
)
from barnabas.pipeline.reading.ranges import Fault, unread
from barnabas.pipeline.rows.exchanges import LATEST

_NS: Final = 10**9
Ints = NDArray[np.int64]


class PacketArrays(NamedTuple):
    """Consecutive packets of a file; the arrays have one element for each packet."""

    data: Any
    """The bytes that contain the packets; offsets count from its beginning."""
    base: int
    """The offset of `data` in the file."""
    blocks: Ints
    """The offset of each packet's block or record."""
    starts: Ints
    """The offset of the packet's own bytes."""
    sizes: Ints
    """The number of the packet's own bytes."""
    times: Ints
    """ns since 1970."""
    linktypes: Ints
    comments: dict[int, tuple[str, ...]]
    """The comments of packets that have any, by index."""

    def packet(self, item: int) -> bytes:
        """Return a packet's bytes."""
        start = int(self.starts[item])
        return bytes(self.data[start : start + int(self.sizes[item])])

    def part(self, begin: int, end: int) -> PacketArrays:
        """Return the packets from `begin` up to `end`."""
        comments = {
            item - begin: texts for item, texts in self.comments.items() if begin <= item < end
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
    """Return `count` 32-bit numbers at each offset, as an array with a row for each."""
    windows = np.lib.stride_tricks.sliding_window_view(data, 4 * count)
    return windows[offsets].view(order + "u4").astype(np.int64)


def times_of(on: Interface, ticks: Ints) -> Ints:
    """Convert an interface's ticks to ns since 1970, as `Interface.time`, LATEST at most."""
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


_WORDS: Final = 7
"""Numbers before the packet: block type, length, interface, time (two), captured bytes, original bytes."""


class EnhancedPackets(NamedTuple):
    """The packets that were read, or None, and the faults."""

    packets: PacketArrays | None
    faults: list[Fault]
    end: int
    """The offset of the next block in the data."""


def enhanced_packets(
    data: Any,
    array: NDArray[np.uint8],
    base: int,
    offsets: Ints,
    order: str,
    interfaces: list[Interface],
) -> EnhancedPackets:
    """Read the packets of blocks at these offsets, whose lengths are plausible.

    Reading ends before the first block whose trailing length differs. `array` is the same data; `base` is its
    offset in the file.

    Raises:
        CaptureError: The first block's trailing length differs.
    """
    heads = words(array, offsets, _WORDS, order)
    lengths = heads[:, 1]
    trailing_lengths = words(array, offsets + lengths - 4, 1, order)[:, 0]
    mismatches = np.flatnonzero(trailing_lengths != lengths)
    if mismatches.size:
        first = int(mismatches[0])
        if first == 0:
            at, length = int(offsets[0]), int(lengths[0])
            check_end(data, at, order, length, base + at)
        offsets, heads, lengths = offsets[:first], heads[:first], lengths[:first]
    end = int(offsets[-1] + lengths[-1])
    index, sizes = heads[:, 2], heads[:, 5]
    room = lengths - ENHANCED_LEAST
    plain = (index < len(interfaces)) & (room - sizes < 4) & (room >= sizes)
    comments: dict[int, tuple[str, ...]] = {}
    keep = np.ones(len(offsets), bool)
    faults: list[Fault] = []
    for item in np.flatnonzero(~plain).tolist():
        at, length = int(offsets[item]), int(lengths[item])
        block_offset = base + at
        try:
            packet = read_block(bytes(data[at : at + length]), order, block_offset, interfaces)
            assert isinstance(packet, Packet)  # noqa: S101
            if packet.comments:
                comments[item] = packet.comments
        except CaptureError as problem:
            keep[item] = False
            faults.append(unread(block_offset, length, problem))
    if not keep.all():
        new_indexes = np.cumsum(keep) - 1
        comments = {int(new_indexes[item]): texts for item, texts in comments.items()}
        offsets, heads, index, sizes = (x[keep] for x in (offsets, heads, index, sizes))
    if not len(offsets):
        return EnhancedPackets(None, faults, end)
    times, linktypes = _of_interfaces(interfaces, index, (heads[:, 3] << 32) | heads[:, 4])
    packets = PacketArrays(data, base, offsets, offsets + BEFORE, sizes, times, linktypes, comments)
    return EnhancedPackets(packets, faults, end)


def _of_interfaces(interfaces: Sequence[Interface], index: Ints, ticks: Ints) -> tuple[Ints, Ints]:
    """Return times and link types of packets."""
    times, linktypes = np.zeros_like(ticks), np.zeros_like(ticks)
    for number in np.unique(index).tolist():
        selected = index == number
        times[selected] = times_of(interfaces[number], ticks[selected])
        linktypes[selected] = interfaces[number].linktype
    return times, linktypes
