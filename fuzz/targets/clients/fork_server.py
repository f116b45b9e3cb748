"""Processes that a server forks once it has loaded a client's library: a start takes milliseconds.

The server is a client program with the argument `forks` (`peers/clients/programs/forking.py`).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO, Final, Protocol

from barnabas.peers import processes
from barnabas.peers.clients.client import Program

FORKS: Final = "forks"
"""The argument that makes a program a fork server."""

_STARTS: Final = 60.0
"""Seconds that a server may take to load a library and to fork."""
_LAST_WORDS: Final = 2000
_CODE: Final = 16
"""Bytes of an exit code, at most."""


def environment(program: Program) -> dict[str, str]:
    """Return the environment of a client's process.

    glibc reserves address space for each thread's arena, which would count as the client's.
    """
    return {**os.environ, "MALLOC_ARENA_MAX": "1", **program.environment}


class StartedProcess(processes.Process, Protocol):
    """A process with pipes, as subprocess.Popen has it."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    returncode: int | None


class ForkedProcess:
    """A process that a server forked.

    exit_codes: the descriptor from which its exit code is read; the server writes it.
    """

    def __init__(self, pid: int, stdin: int, stdout: int, exit_codes: int) -> None:
        self.pid = pid
        self.stdin: IO[bytes] | None = os.fdopen(stdin, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(stdout, "rb")
        self.returncode: int | None = None
        self._told = os.fdopen(exit_codes, "rb", buffering=0)

    def poll(self) -> int | None:
        """Return the exit code if the process has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the process's end and return its exit code. Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            with self._told:
                code = self._told.read(_CODE)
            if not code:  # the server has ended, so the exit code is lost
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.pid, signal.SIGKILL)
            self.returncode = int(code or -signal.SIGKILL)
        return self.returncode


class ForkServer:
    """A fork server, started at the first request, until `close`; a server that has died is restarted.

    Many threads may use it. program: the command and its environment.
    """

    def __init__(self, program: Program, folder: Path) -> None:
        self._line, self._folder = program.line, folder
        self._environment = environment(program)
        self._asking = threading.Lock()
        self._control = socket.socket(socket.AF_UNIX)
        self._log = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed in close)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, log: int) -> ForkedProcess:
        """Fork a process with its own session, whose stderr is `log`. Raises OSError."""
        child_stdin, stdin = os.pipe()
        stdout, child_stdout = os.pipe()
        exit_codes, child_exit_codes = os.pipe()
        try:
            with self._asking:
                pid = self._asked(child_stdin, child_stdout, log, child_exit_codes)
        except OSError:
            for descriptor in (stdin, stdout, exit_codes):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (child_stdin, child_stdout, child_exit_codes):
                os.close(descriptor)
        processes.guard().enter(pid)
        return ForkedProcess(pid, stdin, stdout, exit_codes)

    def _asked(self, *descriptors: int) -> int:
        if self._process is not None:
            with contextlib.suppress(OSError, ValueError):
                return self._fork(*descriptors)
        self._begin()
        try:
            return self._fork(*descriptors)
        except (OSError, ValueError):
            raise OSError(self._last_words()) from None

    def _fork(self, *descriptors: int) -> int:
        socket.send_fds(self._control, [b"f"], descriptors)
        return int(self._control.recv(_CODE))

    def _begin(self) -> None:
        self._end()
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_STARTS)
        with theirs:
            self._process = processes.start(
                [*self._line, FORKS],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._log,
                cwd=self._folder,
                env=self._environment,
            )

    def _last_words(self) -> str:
        size = os.fstat(self._log.fileno()).st_size
        output = os.pread(self._log.fileno(), _LAST_WORDS, max(0, size - _LAST_WORDS))
        lines = output.decode(errors="replace").splitlines()
        return lines[-1] if lines else "it ended at once"

    def close(self) -> None:
        """Let the server end.

        Its processes end when their exit codes are read.
        """
        self._end()
        self._log.close()

    def _end(self) -> None:
        self._control.close()
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            processes.end(self._process)
            self._process = None
