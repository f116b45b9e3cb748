"""Provide a disk for sinks that is slow or full on demand."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.sink import FileSystem, Sink

HEAD = b"head"

VECTOR = 1024
"""Buffers in one system call."""


def await_until(condition: Callable[[], bool]) -> None:
    """Wait for what a thread is to do."""
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.001)


def nothing(stats: Stats) -> bytes:
    return b""


class Disk:
    """A disk that is slow or full when told so."""

    def __init__(self, path: Path = Path()) -> None:
        self.path = path
        self.now = 0
        self.room: int | None = None
        self.step: int | None = None
        self.gated = False
        self.gate = threading.Semaphore(0)
        """Lets the thread write once for each release."""
        self.waits = threading.Semaphore(0)
        """Released whenever the thread comes to the gate."""
        self.wrote = threading.Semaphore(0)
        """Released whenever the thread has written."""
        self.threads: set[str] = set()

    @property
    def data(self) -> bytes:
        """Return the content of its file."""
        return self.path.read_bytes()

    def sink(self, **options: Any) -> Sink:
        """Return a sink that writes its file."""
        return make(self.path, self, **options)

    def clock(self) -> int:
        return self.now

    def writev(self, file: int, buffers: Sequence[Buffer]) -> int:
        assert len(buffers) <= VECTOR
        self.threads.add(threading.current_thread().name)
        if self.gated and threading.current_thread().name == "capture":
            self.waits.release()
            assert self.gate.acquire(timeout=30)
        data = b"".join(buffers)[: self.step]
        if self.room is not None:
            if not self.room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            data = data[: self.room]
            self.room -= len(data)
        written = os.write(file, data)
        if threading.current_thread().name == "capture":
            self.wrote.release()
        return written


def make(path: Path, disk: Disk, **options: Any) -> Sink:
    system = FileSystem(writev=disk.writev, clock=disk.clock)
    return Sink(path, HEAD, system=system, **{"closing": 30.0, **options})


class Choosy(Sink):
    """A sink that loses what it is told to lose."""

    refuse = False

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        if self.refuse:
            return self.lose(packets, payload)
        return super().put(buffers, packets, payload)
