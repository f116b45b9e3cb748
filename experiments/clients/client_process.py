"""A started client's program: its lines, within limits, and its end with all its child processes."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final, Self

from barnabas.peers import processes
from barnabas.peers.clients.client import Program
from barnabas.peers.descendants import Mark

CHECK_INTERVAL: Final = 0.2
"""Seconds between two checks for the end."""

EXIT_TIMEOUT: Final = 5.0
"""Seconds until a killed process is gone, and until an exited one's output is complete."""

MIB: Final = 1 << 20

LINE: Final = MIB
"""Bytes of a line."""

ERROR_OUTPUT_LIMIT: Final = 16 * MIB
"""Bytes to keep of its output other than lines."""

_CHUNK: Final = 1 << 16


class RunStopped(Exception):
    """The run was stopped."""


class PrintedTooMuchError(Exception):
    """The program's output exceeds a limit."""


class ClientProcess:
    """A client's program from `with` to its end.

    Args:
        program: the client.
        task: the only line of its stdin.
        errors: file for its stderr; None: this process's.
        most: limit of its output in bytes.

    Raises:
        OSError: It can't be started.
    """

    def __init__(
        self,
        program: Program,
        task: Mapping[str, Any],
        errors: BinaryIO | None = None,
        most: float = float("inf"),
    ) -> None:
        self._error_file, self._most = errors, most
        self._printed, self._error_bytes, self._part = 0, 0, b""
        self._late = False
        self._mark = Mark()
        self._process = processes.start(
            program.line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if errors is None else subprocess.PIPE,
            env={**os.environ, **program.environment, **self._mark.environment},
        )
        self._pipes = selectors.DefaultSelector()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                self._pipes.register(pipe, selectors.EVENT_READ)
        # a task may be larger than a pipe, and a program may never read it
        threading.Thread(target=self._give, args=(task,), daemon=True).start()

    def _give(self, task: Mapping[str, Any]) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError), self._process.stdin as stdin:
                stdin.write(json.dumps(task).encode() + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the program and all processes that it started."""
        processes.end(self._process)
        self._mark.kill()
        self._pipes.close()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Return the exit code; None: it has not exited by itself."""
        return None if self._late else self._process.poll()

    def dump(self) -> None:
        """Make the program print its stacks and exit (SIGQUIT)."""
        self._late = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGQUIT)

    def lines(self, limit: float, stop: threading.Event) -> Iterator[bytes]:
        """Yield lines until the program exits, for at most `limit` seconds.

        Child processes that hold its stdout longer are not waited for. Raises PrintedTooMuchError and
        RunStopped.
        """
        deadline, ended = time.monotonic() + limit, False
        while time.monotonic() < deadline:
            if stop.is_set():
                raise RunStopped
            if not ended and self._process.poll() is not None:
                ended, deadline = True, min(deadline, time.monotonic() + EXIT_TIMEOUT)
            if not self._pipes.get_map():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(CHECK_INTERVAL)
                    break
                continue
            ready = self._pipes.select(0 if ended else CHECK_INTERVAL)
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
        if self._error_file is None or self._error_bytes > ERROR_OUTPUT_LIMIT:
            return
        self._error_file.write(data[: ERROR_OUTPUT_LIMIT - self._error_bytes])
        self._error_bytes += len(data)
        if self._error_bytes > ERROR_OUTPUT_LIMIT:
            self._error_file.write(
                f"\n(more than {ERROR_OUTPUT_LIMIT // MIB} MiB: not kept)\n".encode()
            )

    def _count(self, data: bytes) -> None:
        self._printed += len(data)
        if self._printed > self._most:
            raise PrintedTooMuchError(f"printed more than {self._most / MIB:g} MiB")
