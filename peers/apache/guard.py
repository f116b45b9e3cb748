"""Nothing stays behind: a small process that ends what another one started, once that one is gone.

It holds the reading end of a pipe whose only writer is the process that started it. At the end of
that pipe, however it came about (also by SIGKILL), it kills the process groups that are entered and
removes a directory. prctl(PR_SET_PDEATHSIG) would do without a process, but goes by the thread that
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
from pathlib import Path


class Guard:
    """The process, as the one that it watches sees it; it removes `directory`, if any, at its end."""

    def __init__(self, directory: Path | None = None) -> None:
        reading, writing = os.pipe()
        self._pipe = os.fdopen(writing, "wb", buffering=0)
        try:
            self._process = subprocess.Popen(  # noqa: S603 (this very file)
                [sys.executable, "-I", "-S", __file__, *([str(directory)] if directory else [])],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        finally:
            os.close(reading)

    def enter(self, group: int) -> None:
        """This process group is to end with us."""
        self._say(f"+{group}\n")

    def leave(self, group: int) -> None:
        """This process group has ended: its number may soon be another's."""
        self._say(f"-{group}\n")

    def close(self) -> None:
        """End what is still entered, and remove the directory; returns when that is done."""
        self._pipe.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        # a guard that somebody killed is missed only if we are killed too
        with contextlib.suppress(BrokenPipeError):
            self._pipe.write(line.encode())


def watch(directory: str | None) -> None:
    """What the guard does: read until the end, then kill and remove."""
    groups: set[int] = set()
    for line in sys.stdin:
        change = groups.add if line[0] == "+" else groups.discard
        change(int(line[1:]))
    for group in groups:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    if directory is None:
        return
    for _ in range(100):  # what was killed may still finish a write
        shutil.rmtree(directory, ignore_errors=True)
        if not Path(directory).exists():
            break
        time.sleep(0.05)


if __name__ == "__main__":
    watch(sys.argv[1] if sys.argv[1:] else None)
