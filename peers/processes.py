"""Processes that are started here, and folders for them: none outlives this process, however that ends.

Each process leads a session and a process group of its own, which ends as a whole.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from barnabas.peers.guard import Guard, remove

_making = threading.Lock()
_guards: Final[list[Guard]] = []
"""The guard of this process, once there is one."""


class Process(Protocol):
    """A process, as subprocess.Popen has it."""

    pid: int

    def poll(self) -> int | None:
        """Return its exit code; None: it has not ended."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its exit code. Raises subprocess.TimeoutExpired."""


def guard() -> Guard:
    """Return what ends processes and removes folders that are entered, once this process is gone."""
    with _making:
        if not _guards:
            _guards.append(Guard())
            atexit.register(_close)
        return _guards[0]


def _close() -> None:
    while _guards:
        _guards.pop().close()


def _forget() -> None:
    """Let a process that was forked have a guard of its own."""
    global _making
    _making = threading.Lock()
    while _guards:
        _guards.pop().forget()


os.register_at_fork(after_in_child=_forget)


def start(line: Sequence[str], **how: Any) -> subprocess.Popen[Any]:
    """Start a process that ends with this one. how: as subprocess.Popen takes it. Raises OSError."""
    process = subprocess.Popen(line, start_new_session=True, **how)  # noqa: S603 (callers say whose it is)
    guard().enter(process.pid)
    return process


def end(process: Process, patience: float = 0.0) -> None:
    """End a process with its group; returns when it has ended.

    patience: the seconds in which it may end by itself, upon SIGTERM; 0: it is killed at once.
    """
    if patience and process.poll() is None:
        with contextlib.suppress(ProcessLookupError):  # it may end by itself at any moment
            os.killpg(process.pid, signal.SIGTERM)
            os.killpg(process.pid, signal.SIGCONT)  # one that is paused would not hear it
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    guard().leave(process.pid)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Make a temporary folder, which is removed at the end of `with`, or when this process is gone."""
    path = Path(tempfile.mkdtemp(prefix="barnabas-"))
    guard().enter(path)
    try:
        yield path
    finally:
        remove(path)
        guard().leave(path)
