"""A file whose writer never waits for it: what can't be written in time is lost, and counted.

Bytes are written at once, from the caller's own buffers, until one write takes longer than a
person's traffic may wait; from then on they are copied to a bounded queue that a thread drains.
That loses what comes faster than the thread writes, so it ends once the file has been fast for a
while, a longer one each time. The first error ends the writing for good.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from barnabas.captures.files import private
from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.closer import Closer

SLOW_NS: Final = 50_000_000
"""A write that takes longer is the last one in the caller's thread for a while."""

FAST_NS: Final = 1_000_000_000
"""The thread ends when no write was slow for so long; the next time for twice as long."""

LONGEST_NS: Final = 60 * FAST_NS
"""But never for longer."""

QUEUE: Final = 64 << 20
"""Bytes that wait for the thread at most, unless told otherwise."""

CLOSING: Final = 5.0
"""Seconds that closing may take, unless told otherwise."""

_UNDER_WAY: Final = 0.2
"""The part of that in which a write that is under way may end: it is counted if it does."""

_VECTOR: Final = min(1024, os.sysconf("SC_IOV_MAX"))
"""Buffers in one system call."""


@dataclass(frozen=True, slots=True)
class _Item:
    data: bytes
    packets: int
    payload: int


@dataclass(frozen=True, slots=True)
class _Turn:
    """What waits behind this goes to another file."""

    path: Path
    data: bytes
    over: Callable[[Path], None]
    packets: int = 0
    payload: int = 0


class Sink:
    """An append-only file of whole blocks; all methods are for one thread.

    Raises OSError if the file can't be created or its first bytes can't be written. `limit` is in bytes, and
    `reserve` of them are kept for what `close` writes. `create` opens its files: what passes a proxy
    may hold passwords.
    """

    segment = 1

    def __init__(
        self,
        path: Path,
        head: bytes,
        *,
        limit: int | None = None,
        reserve: int = 0,
        queue: int = QUEUE,
        closing: float = CLOSING,
        clock: Callable[[], int] = time.monotonic_ns,
        writev: Callable[[int, Sequence[Buffer]], int] = os.writev,
        create: Callable[[Path], int] = private.empty,
    ) -> None:
        self.stats = Stats()
        self.path = path
        """The file that is written just now."""
        self.closed = False
        """Whether this file is closed, and those before."""
        self._limit = None if limit is None else limit - reserve
        self._room = queue
        self._closing = closing
        self._clock = clock
        self._writev = writev
        self._create = create
        self.accepted = len(head)
        """Bytes that are written, or wait."""
        self._before = 0
        """Bytes that are in files before the present one."""
        self._changed = threading.Condition()
        self._queue: deque[_Item | _Turn] = deque()
        self._queued = 0
        self._over = False
        self._thread: threading.Thread | None = None
        self._trial = FAST_NS
        """How long no write may be slow before the thread ends (ns)."""
        self._until: float = 0
        """When the thread may end: as soon as nothing waits from then on."""
        self._closer = Closer(self._fail)
        self._file = create(path)
        try:
            self._write_all(memoryview(head))
            self.stats.bytes = len(head)
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                self._begin_queue(math.inf)  # a pipe is as slow as its reader likes
        except BaseException:
            os.close(self._file)
            raise

    @property
    def left(self) -> float:
        """Bytes until it has reached its limit."""
        return math.inf if self._limit is None else self._limit - self.accepted

    @property
    def losing(self) -> bool:
        """Whether it writes no more."""
        return self.stats.stopped is not None

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks; the buffers are free again on return. False if they are lost."""
        size = sum(map(len, buffers))
        if self.stats.stopped is not None or self._over:
            return self.lose(packets, payload)
        if self._limit is not None and self.accepted + size > self._limit:
            self.stats.stopped = "it reached its size limit"
            return self.lose(packets, payload)
        if self._thread is not None:
            taken = self._enqueue(buffers, size, packets, payload)
            if taken is not None:
                return taken
        begun = self._clock()
        written = self._write(buffers, size, packets, payload)
        self.accepted = self.stats.bytes
        now = self._clock()
        if written and now - begun > SLOW_NS:
            until = now + self._trial
            self._trial = min(2 * self._trial, LONGEST_NS)
            self._begin_queue(until)
        return written

    def turn(self, path: Path, head: bytes, over: Callable[[Path], None]) -> None:
        """What is put from now on goes to another file, which begins with `head`.

        The thread makes it, so that nobody waits for it; blocks that come meanwhile wait in the queue.
        Another thread closes the file before and calls `over` with its path: to delete one takes so long
        that the queue would be full. The next turn waits for that.
        """
        with self._changed:
            if self.stats.stopped is not None or self._over:
                return
            if self._limit is not None and self.accepted + len(head) > self._limit:
                self.stats.stopped = "it reached its size limit"
                return
            self._queue.append(_Turn(path, head, over))
            self._queued += len(head)
            self.accepted += len(head)
            self._changed.notify()
            if self._thread is None:
                self._begin_queue(0)

    def lose(self, packets: int, payload: int) -> bool:
        """Count what is not written. Always False."""
        with self._changed:
            self.stats.lost_packets += packets
            self.stats.lost_bytes += payload
        return False

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Write what waits, as long as `closing` allows, and what `last` says of it all."""
        if self._over:
            return
        begun = self._clock()
        with self._changed:
            self._over = True
            thread = self._thread
            self._changed.notify()
        if thread is not None:
            thread.join(self._closing * (1 - _UNDER_WAY))
            if thread.is_alive():
                with self._changed:
                    self._stop(f"not written within {self._closing:g} s of closing")
                thread.join(self._closing * _UNDER_WAY)
                return  # the file stays open: it may hang in a system call, and so might the end
        alone = self._closer.wait(self._closing - (self._clock() - begun) / 1e9)
        if data := last(self.stats):
            try:
                self._write_all(memoryview(data))
                self.stats.bytes += len(data)
            except OSError:
                self._rewind()
        os.close(self._file)
        self.closed = alone

    # in either thread

    def _write(self, buffers: Sequence[Buffer], size: int, packets: int, payload: int) -> bool:
        try:
            written = self._writev(self._file, buffers) if len(buffers) <= _VECTOR else 0
            if written != size:
                self._write_all(memoryview(b"".join(buffers))[written:])
        except OSError as problem:
            self._rewind()
            self._fail(problem)
            return self.lose(packets, payload)
        self.stats.bytes += size
        self.stats.packets += packets
        return True

    def _rewind(self) -> None:
        """A write failed: as far as the file allows, it is as if nothing of it was written."""
        with contextlib.suppress(OSError):
            size = self.stats.bytes - self._before
            os.ftruncate(self._file, size)
            os.lseek(self._file, size, os.SEEK_SET)

    def _write_all(self, rest: memoryview) -> None:
        while rest:
            written = self._writev(self._file, [rest])
            if not written:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            rest = rest[written:]

    def _stop(self, reason: str) -> None:
        """Nothing more is written, not even what waits. The lock is held."""
        self.stats.stopped = reason
        for item in self._queue:
            self.stats.lost_packets += item.packets
            self.stats.lost_bytes += item.payload
        self._queue.clear()
        self._queued = 0

    # the queue

    def _begin_queue(self, until: float) -> None:
        self._until = until
        self._thread = threading.Thread(target=self._drain, name="capture", daemon=True)
        self._thread.start()

    def _enqueue(
        self, buffers: Sequence[Buffer], size: int, packets: int, payload: int
    ) -> bool | None:
        """None: the thread has ended meanwhile."""
        with self._changed:
            if self._thread is None:
                return None
            fits = self.stats.stopped is None and self._queued + size <= self._room
            if fits:
                self._queue.append(_Item(b"".join(buffers), packets, payload))
                self._queued += size
                self.accepted += size
                self._changed.notify()
        return fits or self.lose(packets, payload)

    def _drain(self) -> None:
        while True:
            with self._changed:
                while not (self._queue or self._over or self._clock() >= self._until):
                    self._changed.wait()
                if not self._queue:
                    self._thread = None
                    return
                item = self._queue.popleft()
            if isinstance(item, _Turn):
                self._go_on(item)
            else:
                begun = self._clock()
                self._write([item.data], len(item.data), item.packets, item.payload)
                now = self._clock()
                if now - begun > SLOW_NS:
                    self._until = max(self._until, now + self._trial)
            with self._changed:
                self._queued = max(self._queued - len(item.data), 0)

    def _go_on(self, turn: _Turn) -> None:
        """Another file takes the place of the present one; if it can't be made, that stays."""
        try:
            file = self._create(turn.path)
            self._file, before = file, self._file
            self._before = self.stats.bytes
            self.path, path = turn.path, self.path
            try:
                self._write_all(memoryview(turn.data))
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
