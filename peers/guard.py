"""A small process that kills processes and removes folders of another process after its end.

It holds the reading end of a pipe whose only writer is the process that started it. When the pipe ends, for
any reason (also SIGKILL), it kills the registered process groups and removes the registered directories.
prctl(PR_SET_PDEATHSIG) would need no process, but depends on the thread that started the child: a broker
restarted from a timer's thread would die with that thread.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


class Guard:
    """The guard's process, as the watched process sees it."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self._pipe = os.fdopen(writing, "wb", buffering=0)
        try:
            self._process = subprocess.Popen(  # noqa: S603 (this very file)
                [sys.executable, "-I", "-S", __file__],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        finally:
            os.close(reading)

    def enter(self, entry: int | Path) -> None:
        """Register a process group to kill, or a directory to remove, when this process is gone."""
        self._say(f"+{entry}\n")

    def leave(self, entry: int | Path) -> None:
        """Forget a directory, or an ended process group, whose number another one may soon have."""
        self._say(f"-{entry}\n")

    def close(self) -> None:
        """Kill and remove everything registered, and wait until that is done."""
        self._pipe.close()
        self._process.wait()

    def forget(self) -> None:
        """Close the pipe in a forked process, so that the guard does not wait for it."""
        self._pipe.close()

    def _say(self, line: str) -> None:
        # a guard that was killed is missed only if this process is killed, too
        with contextlib.suppress(BrokenPipeError):
            self._pipe.write(line.encode())


def remove(directory: str | Path) -> None:
    """Remove a directory, repeatedly: killed processes may still finish a write in it."""
    for _ in range(100):
        shutil.rmtree(directory, ignore_errors=True)
        if not os.path.exists(directory):  # noqa: PTH110 (of a name or a path)
            break
        time.sleep(0.05)


def watch() -> None:
    """Read registrations until the pipe ends, then kill and remove: the guard's program."""
    entered: dict[str, None] = {}
    for line in sys.stdin:
        entry = line[1:].rstrip("\n")
        change: Callable[[str], object] = entered.setdefault if line[0] == "+" else entered.pop
        with contextlib.suppress(KeyError):
            change(entry)
    groups = [int(entry) for entry in entered if entry.isdecimal()]
    for group in groups:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    for entry in entered:
        if not entry.isdecimal():
            remove(entry)


if __name__ == "__main__":
    watch()
