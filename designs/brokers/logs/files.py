"""Logs in files, in a folder that the brokers of a cluster share: an append is stored when it returns.

A leader locks its file, and the lock ends with its process, however that ends. A half-written message of a
dead leader is cut off by the next one, which reports it. A file with other bytes after its last message stays
untouched, without a leader.
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
from barnabas.designs.leaders import TopicPartition
from barnabas.plural import plural

LOG_LIMIT: Final = 1 << 28
"""Bytes of a partition's file: more is refused, nothing is deleted."""

NAME_LIMIT: Final = 255
"""Bytes of a file's name, as file systems have it."""


class LogFull(OSError):
    """The log has LOG_LIMIT bytes."""


class LogDamaged(OSError):
    """A part of the file is not a log."""


class LogDeleted(OSError):
    """The file was deleted: what is written to it ends with this process."""


class LogFile:
    """A partition's log in a file that this process leads.

    say: reports failed appends and bytes that were cut off.

    Raises:
        BlockingIOError: Another process leads it.
        LogDamaged: The file is not a log, and stays unchanged.
        OSError: The file can't be used.
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
            raise LogDamaged(
                f"no record {self.log.end} at byte {whole} of {len(data)}; the file is left as it is"
            )
        os.truncate(self._file, whole)
        self._say(
            f"{self._path.name}: a write that was not finished, {len(data) - whole} bytes behind "
            f"{plural(self.log.end, 'record')}, is cut off"
        )

    def append(self, data: bytes, limit: int = OUTPUT_LIMIT) -> tuple[int, int]:
        """Append a message set; return its first offset, and the number of decompressed bytes.

        limit: of decompressed bytes.

        Raises:
            Malformed: The bytes are not a message set.
            TooLarge: A limit is exceeded.
            OSError: The file can't be written; nothing is written then.
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
        """Write all bytes or nothing. Raises OSError."""
        if not os.fstat(self._file).st_nlink:
            raise LogDeleted("the file is deleted")
        if self.log.size + len(whole) > LOG_LIMIT:
            raise LogFull(f"a log has {LOG_LIMIT} bytes at most")
        if os.pwrite(self._file, whole, self.log.size) != len(whole):
            os.truncate(self._file, self.log.size)
            raise LogFull("the disk is full")

    def read(self, offset: int, most: int) -> bytes:
        """Return messages from an offset on, cut off at a number of bytes. Raises OutOfRange."""
        position, size = self.log.place(offset, most)
        return os.pread(self._file, size, position)

    def close(self) -> None:
        """Give up the leadership."""
        with contextlib.suppress(OSError):
            os.close(self._file)


class Logs:
    """The partitions that this broker leads, with their files in a folder.

    say: reports what can't be written or opened.
    """

    def __init__(self, folder: Path, say: Callable[[str], None] = lambda line: None) -> None:
        self._folder = folder
        self._say = say
        self._files: dict[TopicPartition, LogFile] = {}
        self._wanted: frozenset[TopicPartition] = frozenset()
        self._changing = threading.Lock()
        """Held for moments, while one of these two changes."""
        self.failed: dict[TopicPartition, str] = {}
        """Reasons why partitions can't be led."""
        self._damaged: dict[TopicPartition, tuple[int, int] | None] = {}
        """Size and time of files that are not read again until these are others."""
        self._said: dict[TopicPartition, str] = {}
        """Reported reasons."""

    def lead(self, places: Iterable[TopicPartition]) -> int:
        """Call `keep` and `open`."""
        self.keep(places)
        return self.open()

    def keep(self, places: Iterable[TopicPartition]) -> None:
        """Give up all other partitions than these."""
        with self._changing:
            self._wanted = frozenset(places)
            for partition in self._files.keys() - self._wanted:
                self._files.pop(partition).close()

    def open(self) -> int:
        """Open the missing files, where possible; return the number of those that another broker still leads.

        It takes as long as the files are large, so one thread may do it while other methods are called. Files
        that are not needed any more when they are open are closed.
        """
        held, before, most = 0, self.failed, _most()
        failed: dict[TopicPartition, str] = {}
        with self._changing:
            missing = self._wanted - self._files.keys()
        for partition in sorted(missing):
            path = path_of(self._folder, partition)
            try:
                if len(self._files) >= most:
                    raise OSError(f"{most} are open, as many as ulimit -n leaves room for")
                known = self._damaged.get(partition)
                if partition in before and known is not None and known == _state(path):
                    failed[partition] = before[partition]
                elif partition in self._wanted:
                    self._opened(partition, LogFile(path, self._say))
            except BlockingIOError:
                held += 1
            except OSError as problem:
                failed[partition] = problem.strerror or str(problem)
                if isinstance(problem, LogDamaged):
                    self._damaged[partition] = _state(path)
        self.failed = failed
        self._say_failed()
        return held

    def _opened(self, partition: TopicPartition, file: LogFile) -> None:
        with self._changing:
            if partition in self._wanted:
                self._files[partition] = file
            else:
                file.close()

    def _say_failed(self) -> None:
        """Report the reasons for files that can't be opened, after a change."""
        if self.failed == self._said:
            return
        self._said = self.failed
        for reason, places in _by_reason(self.failed).items():
            more = f" and {len(places) - 1} more" if len(places) > 1 else ""
            self._say(f"{path_of(self._folder, places[0])}{more} can't be opened: {reason}")

    def get(self, partition: TopicPartition) -> LogFile | None:
        """Return the log of a partition; None: this broker does not lead it."""
        return self._files.get(partition)

    def close(self) -> None:
        """Give up all partitions."""
        self.keep(())


def path_of(folder: Path, partition: TopicPartition) -> Path:
    """Return the file of a partition.

    >>> path_of(Path("data"), ("a/b", 3)).as_posix()
    'data/a%2Fb-3.log'
    """
    topic, number = partition
    return folder / f"{below('', topic)[1:]}-{number}.log"


def _state(path: Path) -> tuple[int, int] | None:
    """Return size and time of a file; None: it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _by_reason(failed: Mapping[TopicPartition, str]) -> dict[str, list[TopicPartition]]:
    partitions_by_reason: dict[str, list[TopicPartition]] = {}
    for partition, reason in failed.items():
        partitions_by_reason.setdefault(reason, []).append(partition)
    return partitions_by_reason


def _most() -> int:
    """Return the number of files that may be open: connections need some of the system's limit."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if allowed == resource.RLIM_INFINITY else allowed * 3 // 4
