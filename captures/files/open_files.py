"""Read the files of a capture one after the other, or merged by time.

A file is only open while packets are taken from it, so a folder may hold more files than a process may open.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.growth import Growth
from barnabas.captures.files.pcapng import Block, Damage, Packet, Run, Truncated

Turn = tuple[int, int]
"""When a packet is due: its time, and the index of its file."""

_LAST: Final = (1 << 64, 0)


class OpenFiles:
    """The capture files that are open, with a count of the bytes read."""

    def __init__(self) -> None:
        self._open: dict[int, CaptureFile] = {}
        self._closed = 0
        self.path: Path | None = None
        """The file of the current block."""
        self.damage: dict[tuple[Path, int], Damage] = {}
        """The damage in all files so far, by path and offset."""
        self.cut: dict[Path, int] = {}
        """The files that end within a block so far, and its offset."""

    @property
    def position(self) -> int:
        """Return the bytes read so far, of all files."""
        return self._closed + sum(file.position for file in self._open.values())

    def blocks(self, path: Path, growth: Growth | None = None) -> Iterator[Block | Run]:
        """Yield the blocks of one file, which is still being written with `growth`.

        Raises OSError, and CaptureError where a file can't be read any further.
        """
        file, self.path = self._opened(path, growth), path
        yield from self._runs(file, path)
        self._close(file)

    def merged(self, paths: Iterable[Path]) -> Iterator[Block | Run]:
        """Yield the blocks of several files as mergecap would merge them. Raises OSError, CaptureError.

        Blocks before the first packet of a file come first, the other blocks follow their packet. A packet
        that is earlier than the one before it in its file stays after that. Of packets with equal times,
        those of the first given file come first.
        """
        waiting: list[tuple[int, int, int]] = []
        for index, path in enumerate(paths := list(paths)):
            before = 0
            with CaptureFile(path) as file:
                for block in self._runs(file, path):
                    if isinstance(block, Packet | Run):
                        waiting.append((_time(block), index, before))
                        break
                    before += 1
                    yield block
        waiting.sort(reverse=True)
        streams: list[tuple[int, int, _Stream]] = []
        while streams or waiting:
            while waiting and (not streams or waiting[-1][:2] < streams[0][:2]):
                time, index, before = waiting.pop()
                file = self._opened(paths[index])
                blocks = islice(self._runs(file, paths[index]), before, None)
                heapq.heappush(streams, (time, index, _Stream(file, index, blocks)))
            _, index, stream = streams[0]
            due = [each[:2] for each in (*streams[1:3], *waiting[-1:])]
            self.path = paths[index]
            yield stream.until(min(due, default=_LAST))
            if (following := stream.following()) is None:
                heapq.heappop(streams)
                self._close(stream.file)
            else:
                heapq.heapreplace(streams, (following, index, stream))

    def _runs(self, file: CaptureFile, path: Path) -> Iterator[Block | Run]:
        """Yield the blocks of a file other than damage, which `damage` gets."""
        for block in file.runs(recover=True):
            if isinstance(block, Damage):
                self.damage[path, block.file_offset] = block
                continue
            if isinstance(block, Truncated):
                self.cut[path] = block.file_offset
            yield block

    def _opened(self, path: Path, growth: Growth | None = None) -> CaptureFile:
        file = CaptureFile(path, growth)
        self._open[id(file)] = file
        return file

    def _close(self, file: CaptureFile) -> None:
        self._closed += file.position
        del self._open[id(file)]
        file.close()

    def close(self) -> None:
        """Close all files."""
        for file in list(self._open.values()):
            self._close(file)


class _Stream:
    """The blocks of one file from its first packet on."""

    def __init__(self, file: CaptureFile, index: int, blocks: Iterator[Block | Run]) -> None:
        self.file = file
        self._index = index
        self._blocks = blocks
        self._block = next(self._blocks)
        self._at = 0
        self._now = _time(self._block)

    def until(self, turn: Turn) -> Block | Run:
        """Return the next block, or all packets of a run that are due before `turn`."""
        block = self._block
        if not isinstance(block, Run):
            return block
        places, end = block.places, self._at + 1
        while end < len(places) and (places[end][0], self._index) < turn:
            end += 1
        start, self._at = self._at, end
        return block if end - start == len(places) else block._replace(places=places[start:end])

    def following(self) -> int | None:
        """Advance, and return the time of the next block; None: the file ends."""
        block = self._block
        if isinstance(block, Run) and self._at < len(block.places):
            self._now = block.places[self._at][0]
            return self._now
        following = next(self._blocks, None)
        if following is None:
            return None
        self._block, self._at = following, 0
        if isinstance(following, Packet | Run):
            self._now = _time(following)
        return self._now


def _time(block: Block | Run) -> int:
    """Return the time of a packet, or of the first packet in a run."""
    if isinstance(block, Run):
        return block.places[0][0]
    assert isinstance(block, Packet)  # noqa: S101
    return block.ts_ns
