"""A ring of bytes in memory that two processes share: one writes, the other reads."""

from __future__ import annotations

import contextlib
import mmap
import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from barnabas.captures.files.pcapng import Buffer

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SIZE: Final = 32 << 20
"""Bytes of a ring, unless told otherwise."""

_HEAD: Final = 64
_WRITTEN, _READ, _CLOSED, _WAITING, _DONE = range(5)


class Ring:
    """Made before the reader is forked. Positions count bytes since the beginning; one side writes each.

    >>> ring = Ring(8)
    >>> ring.append([b"abc", b"de"], 5), ring.free
    (None, 3)
    >>> into = bytearray(4)
    >>> ring.take(into), bytes(into)
    (4, b'abcd')
    """

    def __init__(self, size: int = SIZE) -> None:
        self.size = size
        memory = memoryview(mmap.mmap(-1, _HEAD + size))
        self._counts = memory[:_HEAD].cast("Q")
        self._data = memory[_HEAD:]
        # what is stored before it is seen before what is stored behind it, by processors that reorder, too
        self._fence = threading.Lock()
        self.woken, self._wake = os.pipe()
        """A descriptor that can be read when the reader, asleep, is to look again."""
        os.set_blocking(self.woken, False)
        os.set_blocking(self._wake, False)

    @property
    def free(self) -> int:
        """Bytes that can be written now."""
        counts = self._counts
        return self.size - counts[_WRITTEN] + counts[_READ]

    @property
    def waiting(self) -> int:
        """Bytes that can be read now."""
        return self._counts[_WRITTEN] - self._counts[_READ]

    @property
    def closed(self) -> bool:
        """Whether nothing more will be written."""
        return bool(self._counts[_CLOSED])

    @property
    def done(self) -> int:
        """What the reader counts of what it has done; it stays when the reader dies."""
        return self._counts[_DONE]

    @done.setter
    def done(self, count: int) -> None:
        self._counts[_DONE] = count

    def append(self, buffers: Sequence[Buffer], size: int) -> None:
        """Write buffers of `size` bytes in all, of which there must be room."""
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
        self._rouse()

    def take(self, into: WriteableBuffer) -> int:
        """Read what is there into a buffer; returns how many bytes."""
        read = self._counts[_READ]
        view = memoryview(into)
        count = min(len(view), self.waiting)
        at = read % self.size
        first = min(count, self.size - at)
        view[:first] = self._data[at : at + first]
        view[first:count] = self._data[: count - first]
        with self._fence:
            self._counts[_READ] = read + count
        return count

    def close(self) -> None:
        """Nothing more will be written. For the writer."""
        self._counts[_CLOSED] = 1
        self._rouse()

    def forget(self) -> None:
        """Empty, for another reader: the one before is gone. For the writer."""
        self._counts[_READ] = self._counts[_WRITTEN]

    def sleep(self, sleeping: bool) -> None:
        """The reader is about to wait for `woken`, or does no more. Look again before waiting."""
        with self._fence:
            self._counts[_WAITING] = sleeping

    def clear(self) -> None:
        """Take what made `woken` readable."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.woken, 64)

    def _rouse(self) -> None:
        if self._counts[_WAITING]:
            self._counts[_WAITING] = 0
            os.write(self._wake, b"\0")
