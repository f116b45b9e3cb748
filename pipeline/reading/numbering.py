"""Numbers the packets of a piece among those of all files, as the reader in captures/ does.

Files of others are merged by time as `heapq.merge` does it: a packet that is earlier than one before it
in its file comes right behind that, so what counts is the latest time so far; of the same times the
earlier file's come first.
"""

from __future__ import annotations

import numpy as np

from barnabas.captures.files.pcapng import NUMBERED, Other
from barnabas.pipeline.reading.blocks import blocks
from barnabas.pipeline.reading.packet_arrays import Ints, PacketArrays
from barnabas.pipeline.reading.plan import Beside, Piece
from barnabas.pipeline.reading.ranges import Range


class Numbers:
    """Gives the packets of a piece their numbers, in the order of the file."""

    def __init__(self, piece: Piece) -> None:
        self._next = piece.number
        self._latest = piece.latest
        self._others = [(one, _times(one)) for one in piece.beside]

    def skip(self) -> None:
        """A block that is no packet has a number."""
        self._next += 1

    def places(self, arrays: PacketArrays) -> Ints:
        """Those in the file itself, from 1."""
        return np.arange(self._next + 1, self._next + 1 + len(arrays.blocks))

    def of(self, arrays: PacketArrays) -> Ints:
        """Of the next packets, from 1."""
        numbers = self.places(arrays)
        self._next += len(numbers)
        if self._others:
            latest = np.maximum(np.maximum.accumulate(arrays.times), self._latest)
            self._latest = int(latest[-1])
            for one, times in self._others:
                between = np.searchsorted(times, latest, "right" if one.first else "left")
                numbers = numbers + one.before + between
        return numbers


def _times(one: Beside) -> Ints:
    """By which each numbered block of another file's ranges is sorted in."""
    found = [np.empty(0, np.int64), *(block_times(of) for of in one.ranges)]
    return np.maximum.accumulate(np.maximum(np.concatenate(found), one.latest))


def block_times(of: Range) -> Ints:
    """The time of each numbered block, ns; of one that has none, that of the packet before it, or 0."""
    found: list[Ints] = [np.empty(0, np.int64)]
    now = 0
    for block in blocks(of):
        if isinstance(block, PacketArrays):
            found.append(block.times)
            now = int(block.times[-1])
        elif isinstance(block, Other) and block.kind in NUMBERED:
            found.append(np.array([now], np.int64))
    return np.concatenate(found)
