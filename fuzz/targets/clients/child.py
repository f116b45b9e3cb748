"""The process of a client program: its input and output, its memory, its end."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import selectors
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from barnabas.fuzz.cases.observation import Death
from barnabas.fuzz.coverage.agent import CountedProcess
from barnabas.fuzz.targets.clients.fork_server import ForkServer, StartedProcess, environment
from barnabas.fuzz.targets.clients.native_frames import with_names
from barnabas.peers import processes
from barnabas.peers.clients.client import Program

ADDRESS_SPACE: Final = 8 << 30
"""Bytes that a client may map, so that it can't exhaust the machine."""

_LAST_WORDS: Final = 16384
"""Bytes of a process's output that are kept of its end."""
_LOG: Final = 8192
"""Bytes of the output during one case that are read."""
_DUMP: Final = 1.0
"""Seconds that a process has to print where it hangs."""
_LOG_FULL: Final = 64 << 20


class Child:
    """A client process, from its start to `end`. Its output is read through the selector.

    Args:
        program: The command and its environment.
        folder: The working directory.
        selector: The selector.
        server: Forks the process instead of the command, with its own folder and environment.
        counted: The counter of a process that counts its lines.

    Raises:
        OSError: The process can't be started.
    """

    def __init__(
        self,
        program: Program,
        folder: Path,
        selector: selectors.BaseSelector,
        *,
        server: ForkServer | None = None,
        counted: CountedProcess | None = None,
    ) -> None:
        self._selector = selector
        self._counted = counted
        coverage_environment = counted.environment if counted is not None else {}
        self._log = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed in end)
        try:
            self._process: StartedProcess = (
                processes.start(
                    program.line,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._log,
                    cwd=folder,
                    env={**environment(program), **coverage_environment},
                )
                if server is None
                else server.start(self._log.fileno())
            )
        except BaseException:
            self._log.close()
            if counted is not None:
                counted.close()
            raise
        self.pid = self._process.pid
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(self.pid, resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            resource.prlimit(self.pid, resource.RLIMIT_CORE, (0, 0))
        assert self._process.stdout is not None  # noqa: S101 (a pipe was asked for)
        self._out = self._process.stdout.fileno()
        os.set_blocking(self._out, False)
        self._partial = b""
        self._logged = self._looked_at = 0
        self.answers: list[dict[str, Any]] = []
        """Messages of the process, one a line, in order; readers remove them."""
        self.ended = False
        """Whether the output has ended: the process has exited, or soon will."""
        selector.register(self._out, selectors.EVENT_READ, self._ready)

    def tell(self, line: str) -> None:
        """Write a line to the process's stdin."""
        assert self._process.stdin is not None  # noqa: S101 (a pipe was asked for)
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def _ready(self, events: int) -> None:
        try:
            data = os.read(self._out, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self.ended = True
            self._selector.unregister(self._out)
            return
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):  # other output of the program
                answer = json.loads(line)
                if isinstance(answer, dict):
                    self.answers.append(answer)

    def news(self) -> list[str]:
        """Return the features of new lines, which no process had reached before, since the last call."""
        return [] if self._counted is None else self._counted.news()

    def log(self) -> tuple[str, ...]:
        """Return the output since the last call, an entry for each line that is not indented."""
        size = os.fstat(self._log.fileno()).st_size
        self._looked_at = self._logged
        if size == self._logged:
            return ()
        data = os.pread(self._log.fileno(), min(size - self._logged, _LOG), self._logged)
        self._logged = size
        if size > _LOG_FULL:
            os.ftruncate(self._log.fileno(), 0)
            self._logged = self._looked_at = 0
        entries: list[str] = []
        for line in data.decode(errors="replace").splitlines():
            if entries and line[:1].isspace():
                entries[-1] += "\n" + line
            elif line:
                entries.append(line)
        return tuple(entries)

    def where(self) -> str:
        """Return where the process hangs, as it prints upon SIGQUIT (faulthandler, Go and Java do)."""
        before = os.fstat(self._log.fileno()).st_size
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGQUIT)
        until = time.monotonic() + _DUMP
        previous_size = -1
        while time.monotonic() < until:
            size = os.fstat(self._log.fileno()).st_size
            if size == previous_size and size > before:
                break
            previous_size = size
            time.sleep(0.05)
        return os.pread(self._log.fileno(), _LAST_WORDS, before).decode(errors="replace")

    def death(self, timeout: float = 2.0) -> Death:
        """Return how the process ended; it is killed after `timeout` seconds.

        The last output may have begun before the last call of `log`.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout)
        if self._process.poll() is None:
            processes.end(self._process)
        size = os.fstat(self._log.fileno()).st_size
        first = min(self._looked_at, size)
        output = os.pread(self._log.fileno(), _LAST_WORDS, first)
        if size - first > _LAST_WORDS:
            output += b"\n...\n" + os.pread(self._log.fileno(), _LAST_WORDS, size - _LAST_WORDS)
        return Death(self._process.returncode, with_names(output.decode(errors="replace")))

    def end(self) -> None:
        """End the process and close its files."""
        if self._counted is not None:
            self._counted.close()
        if self._process.poll() is None:
            processes.end(self._process)
        if not self.ended:
            self._selector.unregister(self._out)
            self.ended = True
        processes.guard().leave(self.pid)
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
