"""Nothing stays behind: a small process that ends what another one started, once that one is gone.

It holds the reading end of a pipe whose only writer is the process that started it. At the end of
that pipe, however it came about (also by SIGKILL), it kills the process groups and removes the directories
that are entered. prctl(PR_SET_PDEATHSIG) would do without a process, but goes by the thread that
started the child: a broker restarted from a timer's thread would die with that thread.
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
    """The process, as the one that it watches sees it."""

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

    def enter(self, what: int | Path) -> None:
        """End a process group, or remove a directory, when this process is gone."""
        self._say(f"+{what}\n")

    def leave(self, what: int | Path) -> None:
        """Forget a process group that has ended, whose number may soon be another's, or a directory."""
        self._say(f"-{what}\n")

    def close(self) -> None:
        """End and remove what is still entered; returns when that is done."""
        self._pipe.close()
        self._process.wait()

    def forget(self) -> None:
        """Let go of the pipe in a process that was forked: it must not keep the guard waiting."""
        self._pipe.close()

    def _say(self, line: str) -> None:
        # a guard that somebody killed is missed only if we are killed too
        with contextlib.suppress(BrokenPipeError):
            self._pipe.write(line.encode())


def remove(directory: str | Path) -> None:
    """Remove a directory: what was killed may still finish a write in it."""
    for _ in range(100):
        shutil.rmtree(directory, ignore_errors=True)
        if not os.path.exists(directory):  # noqa: PTH110 (of a name or a path)
            break
        time.sleep(0.05)


def watch() -> None:
    """Read until the end, then kill and remove: what the guard's process does."""
    entered: dict[str, None] = {}
    for line in sys.stdin:
        what = line[1:].rstrip("\n")
        change: Callable[[str], object] = entered.setdefault if line[0] == "+" else entered.pop
        with contextlib.suppress(KeyError):
            change(what)
    groups = [int(what) for what in entered if what.isdecimal()]
    for group in groups:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    for what in entered:
        if not what.isdecimal():
            remove(what)


if __name__ == "__main__":
    watch()
