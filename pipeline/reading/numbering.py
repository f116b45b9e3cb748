"""Numbers the packets of a piece among those of all files, as the reader in captures/ does.

Files of other tools are merged by time, as by `heapq.merge`: a packet that is earlier than a preceding packet
of its file comes directly after that one, so the latest time so far counts. Of equal times, the earlier
file's packets come first.
"""

from __future__ import annotations

import numpy as np

from barnabas.captures.files.pcapng import NUMBERED, Other
from barnabas.pipeline.reading.blocks import blocks
from barnabas.pipeline.reading.packet_arrays import Ints, PacketArrays
from barnabas.pipeline.reading.plan import OverlappingFile, Piece
from barnabas.pipeline.reading.ranges import Range


class Numbers:
    """Gives the packets of a piece their numbers, in file order."""

    def __init__(self, piece: Piece) -> None:
        self._next = piece.number
        self._latest = piece.latest
        self._others = [(file, _times(file)) for file in piece.overlapping]

    def skip(self) -> None:
        """Give a number to a block that is no packet."""
        self._next += 1

    def numbers_in_file(self, arrays: PacketArrays) -> Ints:
        """Return the packets' numbers within the file, from 1."""
        return np.arange(self._next + 1, self._next + 1 + len(arrays.blocks))

    def of(self, arrays: PacketArrays) -> Ints:
        """Return the numbers of the next packets among all files, from 1."""
        numbers = self.numbers_in_file(arrays)
        self._next += len(numbers)
        if self._others:
            latest = np.maximum(np.maximum.accumulate(arrays.times), self._latest)
            self._latest = int(latest[-1])
            for file, times in self._others:
                between = np.searchsorted(times, latest, "right" if file.first else "left")
                numbers = numbers + file.before + between
        return numbers


def _times(file: OverlappingFile) -> Ints:
    """Return the sort times of the numbered blocks in another file's ranges."""
    times = [np.empty(0, np.int64), *(block_times(file_range) for file_range in file.ranges)]
    return np.maximum.accumulate(np.maximum(np.concatenate(times), file.latest))


def block_times(file_range: Range) -> Ints:
    """Return the time of each numbered block in ns.

    A block without a time has that of the preceding packet, or 0.
    """
    times: list[Ints] = [np.empty(0, np.int64)]
    latest = 0
    for block in blocks(file_range):
        if isinstance(block, PacketArrays):
            times.append(block.times)
            latest = int(block.times[-1])
        elif isinstance(block, Other) and block.kind in NUMBERED:
            times.append(np.array([latest], np.int64))
    return np.concatenate(times)
