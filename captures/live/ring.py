"""Provide a ring buffer in memory that processes share: several write, one at a time, and one reads."""

from __future__ import annotations

import contextlib
import mmap
import os
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final

from barnabas.captures.files.pcapng import Buffer

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SIZE: Final = 32 << 20
"""Bytes of a ring, by default."""

TURNS: Final = 64
"""Segment beginnings that the reader has not reached, at most."""

_HEAD: Final = 1024
_WRITTEN, _READ, _CLOSED, _WAITING, _DONE, _SEGMENT, _SKIPPING, _LOSSY = range(8)
_PACKETS, _PAYLOAD, _LOST_PACKETS, _LOST_PAYLOAD, _IDLE, _BEGUN, _SIZE, _LINES = range(8, 16)
_PRINTED_LINES, _TURNS = range(16, 18)


class Ring:
    """A ring buffer, created before its processes are forked. Positions count bytes since the beginning.

    Each position has one writer: the reader or the writing side. `lock` is held by a writer while it writes,
    if there are several.

    >>> ring = Ring(8)
    >>> ring.append([b"abc", b"de"], 5), ring.free
    (None, 3)
    >>> into = bytearray(4)
    >>> ring.take(into), bytes(into)
    (4, b'abcd')
    """

    def __init__(
        self, size: int = SIZE, lock: AbstractContextManager[object] | None = None
    ) -> None:
        self.size = size
        self.lock = nullcontext() if lock is None else lock
        memory = memoryview(mmap.mmap(-1, _HEAD + size))
        self._counts = memory[:_HEAD].cast("Q")
        self._data = memory[_HEAD:]
        # a memory barrier: processors that reorder stores must publish the data before the position
        self._fence = threading.Lock()
        # a separate lock: a process forked while the reader holds it is a writer
        self._reader_fence = threading.Lock()
        self.woken, self._wake = os.pipe()
        """A descriptor that becomes readable when a sleeping reader should look again."""
        os.set_blocking(self.woken, False)
        os.set_blocking(self._wake, False)

    @property
    def writing(self) -> list[int]:
        """Return the descriptors that a writer needs."""
        return [self._wake]

    @property
    def free(self) -> int:
        """Return the bytes that can be written now."""
        counts = self._counts
        return self.size - counts[_WRITTEN] + counts[_READ]

    @property
    def room(self) -> int:
        """Return the bytes that can be written now; -1 after a loss, or while the stream is paused."""
        counts = self._counts
        if counts[_SKIPPING] or counts[_IDLE]:
            return -1
        return self.size - counts[_WRITTEN] + counts[_READ]

    @property
    def waiting(self) -> int:
        """Return the bytes that can be read now."""
        return self._counts[_WRITTEN] - self._counts[_READ]

    @property
    def closed(self) -> bool:
        """Return whether nothing more will be written."""
        return bool(self._counts[_CLOSED])

    @property
    def done(self) -> int:
        """Return the reader's progress count, which survives the reader."""
        return self._counts[_DONE]

    @done.setter
    def done(self, count: int) -> None:
        self._counts[_DONE] = count

    @property
    def missing_lines(self) -> int:
        """Return the number of lines that the reader has not printed, or never will."""
        return self._counts[_LINES] - self._counts[_PRINTED_LINES]

    def count_line(self) -> None:
        """Count a line, written or lost. For writers, with the lock."""
        self._counts[_LINES] += 1

    def count_printed_line(self) -> None:
        """Count a printed line. For the reader."""
        self._counts[_PRINTED_LINES] += 1

    @property
    def segment(self) -> int:
        """Return the number of the current segment, from 1."""
        return self._counts[_SEGMENT]

    @property
    def skipping(self) -> bool:
        """Return whether blocks were lost, and another segment has to begin."""
        return bool(self._counts[_SKIPPING])

    @property
    def lossy(self) -> bool:
        """Return whether anything was lost."""
        return bool(self._counts[_LOSSY])

    @property
    def idle(self) -> bool:
        """Return whether the stream is paused: blocks are neither written nor counted as lost."""
        return bool(self._counts[_IDLE])

    @idle.setter
    def idle(self, idle: bool) -> None:
        self._counts[_IDLE] = idle

    @property
    def put(self) -> tuple[int, int]:
        """Return the number of written packets, and their payload bytes."""
        return self._counts[_PACKETS], self._counts[_PAYLOAD]

    @property
    def lost(self) -> tuple[int, int]:
        """Return the number of lost packets, and their payload bytes."""
        return self._counts[_LOST_PACKETS], self._counts[_LOST_PAYLOAD]

    def count(self, packets: int, payload: int) -> None:
        """Count written packets."""
        self._counts[_PACKETS] += packets
        self._counts[_PAYLOAD] += payload

    def lose(self, packets: int, payload: int) -> None:
        """Count lost packets."""
        self._counts[_LOST_PACKETS] += packets
        self._counts[_LOST_PAYLOAD] += payload

    def skip(self) -> None:
        """Note a loss."""
        self._counts[_SKIPPING] = self._counts[_LOSSY] = 1

    def divide(self, size: int | None) -> None:
        """Begin the first segment; each segment ends at this size or above."""
        self._counts[_SEGMENT], self._counts[_SIZE] = 1, size or 0

    def anew(self) -> None:
        """Make all flows introduce themselves again, as in another segment."""
        self._counts[_SEGMENT] += 1

    @property
    def full(self) -> bool:
        """Return whether the current segment has reached its size."""
        counts = self._counts
        size = counts[_SIZE]
        return size > 0 and counts[_WRITTEN] - counts[_BEGUN] >= size

    def turn(self) -> None:
        """Begin another segment without a head, unless the reader is too far behind."""
        counts = self._counts
        turns, written = counts[_TURNS], counts[_WRITTEN]
        if turns >= TURNS and counts[_TURNS + 1 + turns % TURNS] >= counts[_READ]:
            return
        counts[_TURNS + 1 + turns % TURNS] = counts[_BEGUN] = written
        counts[_SEGMENT] += 1
        counts[_TURNS] = turns + 1

    def turned(self, number: int) -> int | None:
        """Return the position where the segment after `number` others begins; None: it has not begun."""
        if number >= self._counts[_TURNS]:
            return None
        return self._counts[_TURNS + 1 + number % TURNS]

    def begin(self, head: Buffer) -> None:
        """Begin another segment with its head, which must fit."""
        # first: if the writer dies in between, flows introduce themselves once too often, but all do
        self._counts[_SEGMENT] += 1
        self.append([head], len(head))
        self._counts[_SKIPPING] = 0

    def append(self, buffers: Sequence[Buffer], size: int) -> None:
        """Write buffers of `size` bytes in all, which must fit."""
        written, data = self._counts[_WRITTEN], self._data
        at = written % self.size
        if at + size > self.size:
            joined = b"".join(buffers)
            first = self.size - at
            data[at:] = joined[:first]
            data[: size - first] = joined[first:]
        else:
            for buffer in buffers:
                end = at + len(buffer)
                data[at:end] = buffer
                at = end
        with self._fence:
            self._counts[_WRITTEN] = written + size
        if self._counts[_WAITING]:
            self._rouse()

    @property
    def written(self) -> int:
        """Return the position up to which bytes were written."""
        return self._counts[_WRITTEN]

    @property
    def read(self) -> int:
        """Return the position up to which bytes were read."""
        return self._counts[_READ]

    def peek(self, end: int | None = None) -> list[memoryview]:
        """Return the readable bytes up to a position, in one or two pieces."""
        read = self._counts[_READ]
        count = self.waiting if end is None else end - read
        at = read % self.size
        first = min(count, self.size - at)
        pieces = [self._data[at : at + first], self._data[: count - first]]
        return [piece for piece in pieces if piece]

    def drop(self, count: int) -> None:
        """Mark bytes as read."""
        with self._reader_fence:
            self._counts[_READ] += count

    def take(self, into: WriteableBuffer) -> int:
        """Read available bytes into a buffer, and return their number."""
        view = memoryview(into)
        count = 0
        for piece in self.peek(min(self.read + len(view), self.read + self.waiting)):
            view[count : count + len(piece)] = piece
            count += len(piece)
        self.drop(count)
        return count

    def close(self) -> None:
        """Mark the end of the stream. For the writer."""
        self._counts[_CLOSED] = 1
        if self._counts[_WAITING]:
            self._rouse()

    def forget(self) -> None:
        """Discard all bytes, for another reader after the previous one has gone. For the writer."""
        self._counts[_READ] = self._counts[_WRITTEN]

    def sleep(self, sleeping: bool) -> None:
        """Note that the reader is about to wait for `woken`, or has stopped waiting.

        Poll again before waiting.
        """
        with self._reader_fence:
            self._counts[_WAITING] = sleeping

    def clear(self) -> None:
        """Read the wake-up bytes from `woken`."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.woken, 64)

    def _rouse(self) -> None:
        self._counts[_WAITING] = 0
        os.write(self._wake, b"\0")
