"""Logs in files, in a folder that the brokers of a cluster share: an append is there when it returns.

A file is its leader's as long as that has it locked, and a lock ends with its process, however that dies.
What a leader that died has left half written is cut off by the next one, which says so. A file with anything
else behind its last message is not touched, and not led.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from barnabas.designs.brokers.logs.log import OUTPUT_LIMIT, Log, stamped
from barnabas.designs.brokers.registry.paths import below
from barnabas.designs.leaders import Place
from barnabas.plural import plural

LOG_LIMIT: Final = 1 << 28
"""Bytes of a partition's file: more is refused, nothing is deleted."""

NAME_LIMIT: Final = 255
"""Bytes of a file's name, as file systems have it."""


class Full(OSError):
    """A log has LOG_LIMIT bytes."""


class Damaged(OSError):
    """A file is no log from somewhere on."""


class Deleted(OSError):
    """A file has no name any more: what is written there goes with this process."""


class LogFile:
    """A partition's log in a file that this process leads.

    Raises BlockingIOError if another one does, Damaged for a file that is no log and stays as it is, and
    other OSErrors.

    say: told why an append failed, if the file could not be written, and what is cut off.
    """

    def __init__(self, path: Path, say: Callable[[str], None] = lambda line: None) -> None:
        self._path = path
        self._say = say
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.log = Log()
            self._read_all()
        except BaseException:
            self.close()
            raise

    def _read_all(self) -> None:
        data = self._path.read_bytes()
        whole = self.log.add(data)
        if whole == len(data):
            return
        if not self.log.torn(data[whole:]):
            raise Damaged(
                f"no record {self.log.end} at byte {whole} of {len(data)}; the file is left as it is"
            )
        os.truncate(self._file, whole)
        self._say(
            f"{self._path.name}: a write that was not finished, {len(data) - whole} bytes behind "
            f"{plural(self.log.end, 'record')}, is cut off"
        )

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
        if not os.fstat(self._file).st_nlink:
            raise Deleted("the file is deleted")
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
    """The partitions that this broker leads, with their files in a folder. say: told what is not written, and
    what can't be opened."""

    def __init__(self, folder: Path, say: Callable[[str], None] = lambda line: None) -> None:
        self._folder = folder
        self._say = say
        self._files: dict[Place, LogFile] = {}
        self._wanted: frozenset[Place] = frozenset()
        self._changing = threading.Lock()
        """Held for moments, while one of these two changes."""
        self.failed: dict[Place, str] = {}
        """Why some can't be led."""
        self._damaged: dict[Place, tuple[int, int] | None] = {}
        """Size and time of files that are not read again until these are others."""
        self._said: dict[Place, str] = {}
        """What of that was said."""

    def lead(self, places: Iterable[Place]) -> int:
        """`keep` and `open`."""
        self.keep(places)
        return self.open()

    def keep(self, places: Iterable[Place]) -> None:
        """From now on lead no others than these."""
        with self._changing:
            self._wanted = frozenset(places)
            for place in self._files.keys() - self._wanted:
                self._files.pop(place).close()

    def open(self) -> int:
        """Open what is missing of them, as far as that can be; how many are still another's.

        It takes as long as their files are large, so a thread may do it, one at a time: all else can be
        called meanwhile, and what is not wanted any more when it is open is closed.
        """
        held, before, most = 0, self.failed, _most()
        failed: dict[Place, str] = {}
        with self._changing:
            missing = self._wanted - self._files.keys()
        for place in sorted(missing):
            path = path_of(self._folder, place)
            try:
                if len(self._files) >= most:
                    raise OSError(f"{most} are open, as many as ulimit -n leaves room for")
                known = self._damaged.get(place)
                if place in before and known is not None and known == _state(path):
                    failed[place] = before[place]
                elif place in self._wanted:
                    self._opened(place, LogFile(path, self._say))
            except BlockingIOError:
                held += 1
            except OSError as problem:
                failed[place] = problem.strerror or str(problem)
                if isinstance(problem, Damaged):
                    self._damaged[place] = _state(path)
        self.failed = failed
        self._say_failed()
        return held

    def _opened(self, place: Place, file: LogFile) -> None:
        with self._changing:
            if place in self._wanted:
                self._files[place] = file
            else:
                file.close()

    def _say_failed(self) -> None:
        """A line a reason, when there are others than were said."""
        if self.failed == self._said:
            return
        self._said = self.failed
        for why, places in _by_reason(self.failed).items():
            more = f" and {len(places) - 1} more" if len(places) > 1 else ""
            self._say(f"{path_of(self._folder, places[0])}{more} can't be opened: {why}")

    def get(self, place: Place) -> LogFile | None:
        """The log of a partition; None: it is not led here."""
        return self._files.get(place)

    def close(self) -> None:
        """Lead nothing."""
        self.keep(())


def path_of(folder: Path, place: Place) -> Path:
    """Where a partition's file is.

    >>> path_of(Path("data"), ("a/b", 3)).as_posix()
    'data/a%2Fb-3.log'
    """
    topic, number = place
    return folder / f"{below('', topic)[1:]}-{number}.log"


def _state(path: Path) -> tuple[int, int] | None:
    """Size and time of a file; None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _by_reason(failed: Mapping[Place, str]) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = {}
    for place, why in failed.items():
        found.setdefault(why, []).append(place)
    return found


def _most() -> int:
    """How many files may be open: connections need some of those that the system allows."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if allowed == resource.RLIM_INFINITY else allowed * 3 // 4
