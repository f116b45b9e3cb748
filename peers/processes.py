"""Processes and temporary folders that never outlive this process, however it ends.

Each process leads a session and a process group of its own, which is killed as a whole.
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
    """A process with the methods of subprocess.Popen."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit code; None while the process runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit and return the exit code. Raises subprocess.TimeoutExpired."""


def guard() -> Guard:
    """Return the guard, which ends processes and removes folders once this process is gone."""
    with _making:
        if not _guards:
            _guards.append(Guard())
            atexit.register(_close)
        return _guards[0]


def _close() -> None:
    while _guards:
        _guards.pop().close()


def _forget() -> None:
    """Give a forked process a guard of its own."""
    global _making
    _making = threading.Lock()
    while _guards:
        _guards.pop().forget()


os.register_at_fork(after_in_child=_forget)


def start(line: Sequence[str], **how: Any) -> subprocess.Popen[Any]:
    """Start a process that ends with this one, with further arguments of subprocess.Popen. Raises OSError."""
    process = subprocess.Popen(line, start_new_session=True, **how)  # noqa: S603 (callers say whose it is)
    guard().enter(process.pid)
    return process


def end(process: Process, patience: float = 0.0) -> None:
    """End a process with its group, and wait for its exit.

    Args:
        process: the leader of the group.
        patience: seconds between SIGTERM and SIGKILL; 0: SIGKILL at once.
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
    """Create a temporary folder, which is removed at the end of `with`, or when this process is gone."""
    path = Path(tempfile.mkdtemp(prefix="barnabas-"))
    guard().enter(path)
    try:
        yield path
    finally:
        remove(path)
        guard().leave(path)
