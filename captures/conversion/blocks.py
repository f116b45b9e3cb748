"""A capture file that is written at the pace of the disk; an error of the disk is raised, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.writing.block_sink import Stats


class BlockFile:
    """Stands where `barnabas.captures.writing.sink.Sink` does. All methods raise whatever the file raises."""

    segment = 1
    losing = False

    def __init__(self, file: BinaryIO, head: bytes) -> None:
        self.stats = Stats(bytes=len(head))
        self._file = file
        file.write(head)

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks."""
        for buffer in buffers:
            self._file.write(buffer)
            self.stats.bytes += len(buffer)
        self.stats.packets += packets
        return True

    def lose(self, packets: int, payload: int) -> bool:
        """Nothing is lost here."""
        raise AssertionError("a file that is written whole loses nothing")

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Write the end; the file itself is its owner's to close."""
        self._file.write(last(self.stats))
