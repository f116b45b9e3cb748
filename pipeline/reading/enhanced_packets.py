"""Enhanced packet blocks that stand behind each other, read many at once by arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from barnabas.captures.files.block_body import read_block
from barnabas.captures.files.pcapng import (
    BEFORE,
    ENHANCED_LEAST,
    CaptureError,
    Interface,
    Packet,
    check_end,
)
from barnabas.pipeline.reading.faults import Fault, unread
from barnabas.pipeline.reading.packet_arrays import Ints, PacketArrays, times_of, words

_WORDS: Final = 7
"""Numbers before the packet: kind, length, interface, time (two), bytes captured, bytes there were."""


class EnhancedPackets(NamedTuple):
    """What was read. packets: None if none could be."""

    packets: PacketArrays | None
    faults: list[Fault]
    end: int
    """Where the next block begins in the data."""


def enhanced_packets(
    data: Any,
    array: NDArray[np.uint8],
    base: int,
    offsets: Ints,
    order: str,
    interfaces: list[Interface],
) -> EnhancedPackets:
    """The packets of blocks at these offsets of the data, whose lengths are possible, up to the first that
    does not repeat its length. array: the same data. base: its offset in the file.

    Raises CaptureError if that is the first of all.
    """
    heads = words(array, offsets, _WORDS, order)
    lengths = heads[:, 1]
    again = words(array, offsets + lengths - 4, 1, order)[:, 0]
    wrong = np.flatnonzero(again != lengths)
    if wrong.size:
        first = int(wrong[0])
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
        where = base + at
        try:
            found = read_block(bytes(data[at : at + length]), order, where, interfaces)
            assert isinstance(found, Packet)  # noqa: S101
            if found.comments:
                comments[item] = found.comments
        except CaptureError as problem:
            keep[item] = False
            faults.append(unread(where, length, problem))
    if not keep.all():
        places = np.cumsum(keep) - 1
        comments = {int(places[item]): said for item, said in comments.items()}
        offsets, heads, index, sizes = (x[keep] for x in (offsets, heads, index, sizes))
    if not len(offsets):
        return EnhancedPackets(None, faults, end)
    times, linktypes = _of_interfaces(interfaces, index, (heads[:, 3] << 32) | heads[:, 4])
    packets = PacketArrays(data, base, offsets, offsets + BEFORE, sizes, times, linktypes, comments)
    return EnhancedPackets(packets, faults, end)


def _of_interfaces(interfaces: Sequence[Interface], index: Ints, ticks: Ints) -> tuple[Ints, Ints]:
    """Times and link types of packets."""
    times, linktypes = np.zeros_like(ticks), np.zeros_like(ticks)
    for number in np.unique(index).tolist():
        mine = index == number
        times[mine] = times_of(interfaces[number], ticks[mine])
        linktypes[mine] = interfaces[number].linktype
    return times, linktypes
