"""Run functions in processes that are forked like those of the proxy."""

from __future__ import annotations

import contextlib
import os
import signal
import traceback
from collections.abc import Callable, Iterator


def fork(work: Callable[[], object]) -> int:
    """Begin some work in another process; its id. It ends with 0, or 1 if the work raises."""
    if pid := os.fork():
        return pid
    try:
        work()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the parent sees the exit code
        traceback.print_exc()
    finally:
        os._exit(1)


def ended(pid: int) -> int:
    """Wait until a process has ended; its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def over(pids: list[int]) -> bool:
    """Take those that have ended off the list; whether none is left. Raises AssertionError if one failed."""
    for pid in list(pids):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            pids.remove(pid)
            assert status == 0
    return not pids


@contextlib.contextmanager
def forked(*works: Callable[[], object]) -> Iterator[list[int]]:
    """Fork processes, and kill those that still run at the end."""
    pids = [fork(work) for work in works]
    try:
        yield pids
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            ended(pid)
