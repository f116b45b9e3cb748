"""A capture in segments: a folder of files, each of which is whole when it has its name.

The segment that is being written is called `*.pcapng.part`, and gets its name when it is closed. Whoever
writes it holds a lock on it, which the system lets go when that process is gone: so what a killed one
left is known, and gets its name when the next one begins.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from barnabas.captures.files import private
from barnabas.captures.files.capture_folder import PART
from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.sink import FileSystem, Sink

_SAID: Final = 1000
"""Closed segments that are remembered until somebody asks for them."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """When a segment is closed: at so many bytes, or when it is so old (ns). `keep`: how many closed
    ones stay; the oldest are deleted."""

    size: int | None = None
    age: int | None = None
    keep: int | None = None


class Segments:
    """Stands where `barnabas.captures.writing.sink.Sink` does, and writes one file after the other.

    A segment ends behind the blocks that reach its size, and blocks that are put at once stay together.
    `heads` makes the first bytes of a segment by its number. Raises OSError if the folder or the first
    file can't be made; EBUSY: somebody else writes there.
    """

    def __init__(
        self,
        folder: Path,
        heads: Callable[[int], bytes],
        rotation: Rotation,
        *,
        limit: int | None = None,
        sink: Callable[..., Sink] = Sink,
    ) -> None:
        private.folder(folder)
        recover(folder)
        self.segment = 1
        self._folder = folder
        self._heads = heads
        self.rotation = rotation
        self._since: int | None = None
        """When the present segment was first looked at (ns)."""
        self._over = False
        self._closed: deque[Path] = deque(maxlen=_SAID)
        self._kept: deque[Path] = deque()
        head = heads(1)
        self._begun = len(head)
        """`Sink.accepted` when the present segment had nothing but its head."""
        self.sink = sink(self._part(), head, limit=limit, system=FileSystem(create=_fresh))

    @property
    def stats(self) -> Stats:
        """What was written and lost so far, in all segments."""
        return self.sink.stats

    @property
    def losing(self) -> bool:
        """Whether it writes no more."""
        return self.sink.losing

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks; the buffers are free again on return. False if they are lost."""
        taken = self.sink.put(buffers, packets, payload)
        size = self.rotation.size
        if size is not None and self.sink.accepted - self._begun >= size:
            self.turn()
        return taken

    def lose(self, packets: int, payload: int) -> bool:
        """Count what is not written. Always False."""
        return self.sink.lose(packets, payload)

    def look(self, ts_ns: int) -> None:
        """To be called now and then: the present segment may be old enough, if it is not empty."""
        if self.old(ts_ns):
            self.turn()
            self._since = ts_ns

    def old(self, ts_ns: int) -> bool:
        """Whether the present segment has reached its age, and is not empty: told once."""
        if self._since is None:
            self._since = ts_ns
        age = self.rotation.age
        if age is None or ts_ns - self._since < age or self._over:
            return False
        self._since = ts_ns
        return self.sink.accepted > self._begun

    def news(self) -> Iterator[Path]:
        """The segments that were closed since the last time, each once."""
        while self._closed:
            yield self._closed.popleft()

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Write what waits, and what `last` says of it all; the last segment gets its name."""
        self._over = True
        self.sink.close(last)
        if self.sink.closed and self.sink.path.suffix == PART:
            self._named(self.sink.path)

    def turn(self) -> None:
        """What is written from now on goes to the next segment."""
        if self.stats.stopped is not None:
            return
        self.segment += 1
        self._since = None
        self.sink.turn(self._part(), self._heads(self.segment), self._named)
        self._begun = self.sink.accepted

    def _part(self) -> Path:
        """The name of the present segment while it is written; no file has it, or will have."""
        seconds = time.time_ns() // 10**9
        while True:
            stamp = datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%dT%H%M%SZ")
            name = self._folder / f"barnabas-{stamp}-{self.segment:06}.pcapng"
            part = name.with_name(name.name + PART)
            if not (name.exists() or part.exists()):
                return part
            seconds += 1

    def _named(self, part: Path) -> None:
        """A segment is closed. May be called by a thread of the sink's."""
        name = part.with_suffix("")
        with contextlib.suppress(OSError):
            part.rename(name)
            self.stats.segments += 1
            self._closed.append(name)
            self._kept.append(name)
            while self.rotation.keep is not None and len(self._kept) > self.rotation.keep:
                self._kept.popleft().unlink(missing_ok=True)


def recover(folder: Path) -> None:
    """Give segments their names whose writers are gone; one of which nothing was written goes. Raises
    OSError; EBUSY if a writer is there."""
    for part in sorted(folder.glob(f"*.pcapng{PART}")):
        with part.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OSError(errno.EBUSY, "another proxy is writing there") from None
            name = part.with_suffix("")
            if not part.stat().st_size:
                part.unlink()
            elif not name.exists():
                part.rename(name)


def _fresh(path: Path) -> int:
    """The descriptor of a file that was not there, locked. Raises OSError."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(OSError):  # a disk without locks
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file
