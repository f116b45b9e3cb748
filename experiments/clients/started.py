"""A client's program that was started: its lines as they come, within bounds, and its end with all that it
started."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

from barnabas.peers import processes
from barnabas.peers.clients.client import Program

LOOK: Final = 0.2
"""Seconds between two looks whether it is to end."""

SOON: Final = 5.0
"""Seconds in which a process that was killed is gone, and one that ended has said what it had to say."""

MIB: Final = 1 << 20

LINE: Final = MIB
"""Bytes of a line."""

BESIDE: Final = 16 * MIB
"""Bytes that are kept of what it prints beside its lines."""

_CHUNK: Final = 1 << 16

_MARK: Final = "BARNABAS_CLIENT"
"""In the environment of all that it starts, also of what leaves its process group."""


class Stopped(Exception):
    """Somebody wants it all to end."""


class PrintedTooMuchError(Exception):
    """It prints more than can be anything to us."""


class Started:
    """From `with` to its end.

    asked: what it is to do: its only line of stdin. beside: where its stderr goes; None: to ours. most: bytes
    that it may print. Raises OSError if it can't be started.
    """

    def __init__(
        self,
        program: Program,
        asked: Mapping[str, Any],
        beside: BinaryIO | None = None,
        most: float = float("inf"),
    ) -> None:
        self._beside, self._most = beside, most
        self._printed, self._kept, self._part = 0, 0, b""
        self._late = False
        self._mark = secrets.token_hex(8)
        self._process = processes.start(
            program.line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if beside is None else subprocess.PIPE,
            env={**os.environ, **program.environment, _MARK: self._mark},
        )
        self._pipes = selectors.DefaultSelector()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                self._pipes.register(pipe, selectors.EVENT_READ)
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError), self._process.stdin as told:
                told.write(json.dumps(asked).encode() + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End it with all that it started."""
        processes.end(self._process)
        _sweep(f"{_MARK}={self._mark}".encode())
        self._pipes.close()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Its exit code; None: it has not ended by itself."""
        return None if self._late else self._process.poll()

    def dump(self) -> None:
        """Have it say where it is, and end."""
        self._late = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGQUIT)

    def lines(self, limit: float, stop: threading.Event) -> Iterator[bytes]:
        """Its lines until it has ended, at most so many seconds. What holds its stdout longer than it lives
        is not waited for. Raises PrintedTooMuchError, Stopped."""
        until, ended = time.monotonic() + limit, False
        while time.monotonic() < until:
            if stop.is_set():
                raise Stopped
            if not ended and self._process.poll() is not None:
                ended, until = True, min(until, time.monotonic() + SOON)
            if not self._pipes.get_map():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(LOOK)
                    break
                continue
            ready = self._pipes.select(0 if ended else LOOK)
            if ended and not ready:
                break
            for key, _ in ready:
                data = os.read(key.fd, _CHUNK)
                if not data:
                    self._pipes.unregister(key.fileobj)
                elif key.fileobj is self._process.stdout:
                    yield from self._lines(data)
                else:
                    self._keep(data)
        if self._part:
            yield self._part + b"\n"
            self._part = b""

    def _lines(self, data: bytes) -> Iterator[bytes]:
        self._count(data)
        *whole, self._part = (self._part + data).split(b"\n")
        if len(self._part) > LINE:
            raise PrintedTooMuchError(f"printed a line of more than {LINE // MIB} MiB")
        for line in whole:
            yield line + b"\n"

    def _keep(self, data: bytes) -> None:
        self._count(data)
        if self._beside is None or self._kept > BESIDE:
            return
        self._beside.write(data[: BESIDE - self._kept])
        self._kept += len(data)
        if self._kept > BESIDE:
            self._beside.write(f"\n(more than {BESIDE // MIB} MiB: not kept)\n".encode())

    def _count(self, data: bytes) -> None:
        self._printed += len(data)
        if self._printed > self._most:
            raise PrintedTooMuchError(f"printed more than {self._most / MIB:g} MiB")


def _sweep(mark: bytes) -> None:
    """End what left the process group, where /proc tells what a process has in its environment."""
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in environment.read_bytes().split(b"\0"):
                os.kill(int(environment.parent.name), signal.SIGKILL)
