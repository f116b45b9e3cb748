"""Write a file whose writer never waits: blocks that can't be written in time are lost and counted.

A thread writes. Blocks are copied to its bounded queue even while the disk is fast, since the duration of a
write is unknown before. Only the opener writes the head itself. The first error ends the writing for good.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.captures.files import private
from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.closer import Closer

QUEUE: Final = 64 << 20
"""Bytes in the thread's queue at most, by default."""

PAUSE: Final = 0.01
"""Seconds that the thread sleeps when its queue is empty, so that traffic rarely wakes it."""

BATCH: Final = 8 << 20
"""Bytes that the thread writes at once; one block may exceed them."""

CLOSING: Final = 5.0
"""Seconds that closing may take, by default."""

_UNDER_WAY: Final = 0.2
"""The share of them in which a current write may end, and is counted if it does."""

_VECTOR: Final = min(1024, os.sysconf("SC_IOV_MAX"))
"""Buffers in one system call."""


class _Item(NamedTuple):
    data: bytes
    packets: int
    payload: int


class _Turn(NamedTuple):
    """A switch to another file, between queued blocks."""

    path: Path
    data: bytes
    over: Callable[[Path], None]
    packets: int = 0
    payload: int = 0


@dataclass(frozen=True, slots=True)
class FileSystem:
    """The functions with which a sink opens and writes its files, and its clock."""

    create: Callable[[Path], int] = private.empty
    """Creates a file for its owner only, since traffic may have passwords, and returns its descriptor."""
    writev: Callable[[int, Sequence[Buffer]], int] = os.writev
    clock: Callable[[], int] = time.monotonic_ns


_SYSTEM: Final = FileSystem()


class Sink:
    """An append-only file of whole blocks; all methods are for one thread.

    `limit` is the bytes that `put` may write; `close` may exceed it. Raises OSError if the file can't be
    created or its first bytes can't be written.
    """

    segment = 1

    def __init__(
        self,
        path: Path,
        head: bytes,
        *,
        limit: int | None = None,
        queue: int = QUEUE,
        closing: float = CLOSING,
        system: FileSystem = _SYSTEM,
    ) -> None:
        self.stats = Stats()
        self.path = path
        """The current file."""
        self.closed = False
        """Whether this file and those before are closed."""
        self._limit = limit
        self._room = queue
        self._closing = closing
        self._system = system
        self.accepted = len(head)
        """Bytes that are written or queued."""
        self.accepted_packets = 0
        """Packets that are written or queued."""
        self._before = 0
        """Bytes in files before the current one."""
        self._changed = threading.Condition()
        self._queue: deque[_Item | _Turn] = deque()
        self._queued = 0
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._closer = Closer(self._fail)
        self._file = system.create(path)
        try:
            self._write_all(head)
            self.stats.bytes = len(head)
        except BaseException:
            os.close(self._file)
            raise

    @property
    def left(self) -> float:
        """Return the bytes until the limit."""
        return math.inf if self._limit is None else self._limit - self.accepted

    @property
    def losing(self) -> bool:
        """Return whether writing has stopped."""
        return self.stats.stopped is not None

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks; the buffers may be reused on return. False: they are lost."""
        size = sum(map(len, buffers))
        with self._changed:
            if not self._takes(size) or self._queued + size > self._room:
                return self.lose(packets, payload)
            self._append(_Item(b"".join(buffers), packets, payload))
            self.accepted_packets += packets
        return True

    def turn(self, path: Path, head: bytes, over: Callable[[Path], None]) -> None:
        """Write everything from now on to another file, which begins with `head`.

        The thread creates the file, so that the caller does not wait; blocks wait in the queue meanwhile.
        Another thread closes the previous file and calls `over` with its path: deleting a file takes so long
        that the queue could fill. The next turn waits for that.
        """
        with self._changed:
            if self._takes(len(head)):
                self._append(_Turn(path, head, over))

    def lose(self, packets: int, payload: int) -> bool:
        """Count packets that are not written. Always False."""
        with self._changed:
            self.stats.lost_packets += packets
            self.stats.lost_bytes += payload
        return False

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Write waiting blocks and the bytes that `last` makes of the counts, within the time for closing."""
        if self._over.is_set():
            return
        begun = self._system.clock()
        with self._changed:
            self._over.set()
            thread = self._thread
            self._changed.notify()
        if thread is not None:
            thread.join(self._closing * (1 - _UNDER_WAY))
            if thread.is_alive():
                with self._changed:
                    self._stop(f"not written within {self._closing:g} s of closing")
                thread.join(self._closing * _UNDER_WAY)
                return  # the file stays open: a system call on it hangs, and closing might, too
        alone = self._closer.wait(self._closing - (self._system.clock() - begun) / 1e9)
        if data := last(self.stats):
            try:
                self._write_all(data)
                self.stats.bytes += len(data)
            except OSError:
                self._rewind()
        os.close(self._file)
        self.closed = alone

    def _takes(self, size: int) -> bool:
        """Return whether this many more bytes may be written. The lock is held."""
        if self.stats.stopped is not None or self._over.is_set():
            return False
        if self._limit is not None and self.accepted + size > self._limit:
            self.stats.stopped = "it reached its size limit"
            return False
        return True

    def _append(self, item: _Item | _Turn) -> None:
        """Queue an item for the thread. The lock is held."""
        self._queue.append(item)
        self._queued += len(item.data)
        self.accepted += len(item.data)
        if self._thread is None:  # not earlier: the opener may fork
            self._thread = threading.Thread(target=self._drain, name="capture", daemon=True)
            self._thread.start()
        self._changed.notify()

    # in either thread

    def _rewind(self) -> None:
        """Undo a failed write, as far as the file allows."""
        with contextlib.suppress(OSError):
            size = self.stats.bytes - self._before
            os.ftruncate(self._file, size)
            os.lseek(self._file, size, os.SEEK_SET)

    def _write_all(self, data: bytes) -> None:
        _, problem = self._written([data])
        if problem is not None:
            raise problem

    def _written(self, data: Sequence[bytes]) -> tuple[int, OSError | None]:
        """Write as much as possible; return the bytes written, and the error."""
        rest: Sequence[Buffer] = data
        done, size = 0, sum(map(len, data))
        try:
            while done < size:
                count = self._system.writev(self._file, rest)
                if not count:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                done += count
                rest = [memoryview(b"".join(data))[done:]] if done < size else []
        except OSError as problem:
            return done, problem
        return done, None

    def _stop(self, reason: str) -> None:
        """Stop writing, and count the queue as lost. The lock is held."""
        self.stats.stopped = reason
        for item in self._queue:
            self.stats.lost_packets += item.packets
            self.stats.lost_bytes += item.payload
        self._queue.clear()
        self._queued = 0

    # in the thread

    def _drain(self) -> None:
        while next_ := self._next():
            if isinstance(next_, _Turn):
                self._go_on(next_)
                size = len(next_.data)
            else:
                self._write(next_)
                size = sum(len(item.data) for item in next_)
            with self._changed:
                self._queued = max(self._queued - size, 0)
                if self._queue:
                    continue
            self._over.wait(PAUSE)

    def _next(self) -> _Turn | list[_Item]:
        """Wait for the next items; empty: the sink is closing."""
        batch: list[_Item] = []
        size = 0
        with self._changed:
            while not (self._queue or self._over.is_set()):
                self._changed.wait()
            while self._queue and size < BATCH and len(batch) < _VECTOR:
                item = self._queue.popleft()
                if isinstance(item, _Turn):
                    if not batch:
                        return item
                    self._queue.appendleft(item)
                    break
                batch.append(item)
                size += len(item.data)
        return batch

    def _write(self, batch: list[_Item]) -> None:
        """Write blocks; if that fails, incompletely written blocks are lost."""
        done, problem = self._written([item.data for item in batch])
        for item in batch:
            done -= len(item.data)
            if done < 0:
                self.lose(item.packets, item.payload)
            else:
                self.stats.bytes += len(item.data)
                self.stats.packets += item.packets
        if problem is not None:
            self._rewind()
            self._fail(problem)

    def _go_on(self, turn: _Turn) -> None:
        """Switch to another file; if it can't be created, keep the current one."""
        try:
            file = self._system.create(turn.path)
            self._file, before = file, self._file
            self._before = self.stats.bytes
            self.path, path = turn.path, self.path
            try:
                self._write_all(turn.data)
                self.stats.bytes += len(turn.data)
            except OSError:
                self._rewind()
                raise
            finally:
                self._closer.close(before, partial(turn.over, path))
        except OSError as problem:
            self._fail(problem)

    def _fail(self, problem: OSError) -> None:
        with self._changed:
            self._stop(problem.strerror or type(problem).__name__)
