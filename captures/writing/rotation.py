"""Write a capture in segments: a folder of files, each complete when it has its final name.

The current segment is called `*.pcapng.part`, and gets its final name when it is closed. Its writer holds a
lock on it, which the system releases when the process ends. So the segment of a killed process is recognised,
and gets its final name when the next capture begins there.
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
"""Closed segments that are remembered until the caller asks for them."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """The limits of a segment: it is closed at `size` bytes, or at `age` ns.

    `keep` is how many closed segments are retained; the oldest are deleted.
    """

    size: int | None = None
    age: int | None = None
    keep: int | None = None


class Segments:
    """A sink like `barnabas.captures.writing.sink.Sink` that writes one file after the other.

    A segment ends after the blocks that reach its size; blocks of one `put` stay together.

    Args:
        folder: The folder of the segments.
        heads: Makes the first bytes of a segment from its number.
        rotation: When a segment is closed.
        limit: Bytes of all segments.
        sink: Makes the file.

    Raises:
        OSError: The folder or the first file can't be created; EBUSY: another process writes there.
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
        """When `look` or `old` first saw the current segment (ns)."""
        self._over = False
        self._closed: deque[Path] = deque(maxlen=_SAID)
        self._retained: deque[Path] = deque()
        head = heads(1)
        self._head_end = len(head)
        """`Sink.accepted` when the current segment only had its head."""
        self.sink = sink(self._part(), head, limit=limit, system=FileSystem(create=_fresh))

    @property
    def stats(self) -> Stats:
        """Return the counts so far, of all segments."""
        return self.sink.stats

    @property
    def losing(self) -> bool:
        """Return whether writing has stopped."""
        return self.sink.losing

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks; the buffers may be reused on return. False: they are lost."""
        taken = self.sink.put(buffers, packets, payload)
        size = self.rotation.size
        if size is not None and self.sink.accepted - self._head_end >= size:
            self.turn()
        return taken

    def lose(self, packets: int, payload: int) -> bool:
        """Count packets that are not written. Always False."""
        return self.sink.lose(packets, payload)

    def look(self, ts_ns: int) -> None:
        """Close the current segment if it is old enough and not empty. Call it regularly."""
        if self.old(ts_ns):
            self.turn()
            self._since = ts_ns

    def old(self, ts_ns: int) -> bool:
        """Return once whether the current segment has reached its age, and is not empty."""
        if self._since is None:
            self._since = ts_ns
        age = self.rotation.age
        if age is None or ts_ns - self._since < age or self._over:
            return False
        self._since = ts_ns
        return self.sink.accepted > self._head_end

    def news(self) -> Iterator[Path]:
        """Yield the segments that were closed since the last call."""
        while self._closed:
            yield self._closed.popleft()

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Write waiting blocks and the bytes that `last` makes, and give the last segment its final name."""
        self._over = True
        self.sink.close(last)
        if self.sink.closed and self.sink.path.suffix == PART:
            self._named(self.sink.path)

    def turn(self) -> None:
        """Begin the next segment."""
        if self.stats.stopped is not None:
            return
        self.segment += 1
        self._since = None
        self.sink.turn(self._part(), self._heads(self.segment), self._named)
        self._head_end = self.sink.accepted

    def _part(self) -> Path:
        """Return an unused name for the current segment."""
        seconds = time.time_ns() // 10**9
        while True:
            stamp = datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%dT%H%M%SZ")
            name = self._folder / f"barnabas-{stamp}-{self.segment:06}.pcapng"
            part = name.with_name(name.name + PART)
            if not (name.exists() or part.exists()):
                return part
            seconds += 1

    def _named(self, part: Path) -> None:
        """Give a closed segment its final name. May be called by a thread of the sink."""
        name = part.with_suffix("")
        with contextlib.suppress(OSError):
            part.rename(name)
            self.stats.segments += 1
            self._closed.append(name)
            self._retained.append(name)
            while self.rotation.keep is not None and len(self._retained) > self.rotation.keep:
                self._retained.popleft().unlink(missing_ok=True)


def recover(folder: Path) -> None:
    """Give the segments of killed writers their final names, and delete empty ones.

    Raises OSError; EBUSY if a writer is still running.
    """
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
    """Create and lock a new file, and return its descriptor. Raises OSError."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file
