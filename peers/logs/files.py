"""Logs in files, in a folder that the brokers of a cluster share: an append is there when it returns.

A file is its leader's as long as that has it locked, and a lock ends with its process, however that dies.
What a leader that died has left half written is cut off by the next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from barnabas.peers.leaders import Place
from barnabas.peers.logs.log import OUTPUT_LIMIT, Log, stamped
from barnabas.peers.registry.paths import below

LOG_LIMIT: Final = 1 << 28
"""Bytes of a partition's file: more is refused, nothing is deleted."""


class Full(OSError):
    """A log has LOG_LIMIT bytes."""


class LogFile:
    """A partition's log in a file that this process leads. Raises BlockingIOError if another one does.

    say: told why an append failed, if the file could not be written.
    """

    def __init__(self, path: Path, say: Callable[[str], None] = lambda line: None) -> None:
        self._path = path
        self._say = say
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.log = Log()
            os.truncate(self._file, self.log.add(path.read_bytes()))
        except BaseException:
            self.close()
            raise

    def append(self, data: bytes, limit: int = OUTPUT_LIMIT) -> tuple[int, int]:
        """Append a message set; the offset of its first message, and how many bytes were decompressed.

        limit: of those. Raises Malformed for what is none, TooLarge, and OSError if it can't be written: then
        nothing is.
        """
        first = self.log.end
        whole, output = stamped(data, first, limit)
        try:
            self._write(whole)
        except OSError as problem:
            self._say(f"{self._path.name} takes no records: {problem.strerror or problem}")
            raise
        self.log.add(whole)
        return first, output

    def _write(self, whole: bytes) -> None:
        """All of it or nothing. Raises OSError."""
        if self.log.size + len(whole) > LOG_LIMIT:
            raise Full(f"a log has {LOG_LIMIT} bytes at most")
        if os.pwrite(self._file, whole, self.log.size) != len(whole):
            os.truncate(self._file, self.log.size)
            raise Full("the disk is full")

    def read(self, offset: int, most: int) -> bytes:
        """Messages from an offset on, the last one cut off at so many bytes. Raises OutOfRange."""
        position, size = self.log.place(offset, most)
        return os.pread(self._file, size, position)

    def close(self) -> None:
        """Lead it no longer."""
        with contextlib.suppress(OSError):
            os.close(self._file)


class Logs:
    """The partitions that this broker leads, with their files in a folder. say: told what is not written."""

    def __init__(self, folder: Path, say: Callable[[str], None] = lambda line: None) -> None:
        self._folder = folder
        self._say = say
        self._files: dict[Place, LogFile] = {}

    def lead(self, places: Iterable[Place]) -> int:
        """Lead these partitions and no others; how many are still another's. Raises OSError."""
        wanted = set(places)
        for place in self._files.keys() - wanted:
            self._files.pop(place).close()
        held = 0
        for place in sorted(wanted - self._files.keys()):
            try:
                self._files[place] = LogFile(path_of(self._folder, place), self._say)
            except BlockingIOError:
                held += 1
        return held

    def get(self, place: Place) -> LogFile | None:
        """The log of a partition; None: it is not led here."""
        return self._files.get(place)

    def close(self) -> None:
        """Lead nothing."""
        self.lead(())


def path_of(folder: Path, place: Place) -> Path:
    """Where a partition's file is.

    >>> path_of(Path("data"), ("a/b", 3)).as_posix()
    'data/a%2Fb-3.log'
    """
    topic, number = place
    return folder / f"{below('', topic)[1:]}-{number}.log"
