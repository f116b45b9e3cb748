"""The folder and the JVM of a session, which also end with a process that has no time to clean up."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PREFIX: Final = "barnabas-spark-"
_LOCK: Final = "lock"

_folders: list[Path] = []
jvms: list[subprocess.Popen[bytes]] = []
"""The JVMs that this process has started."""


@contextmanager
def working_folder() -> Iterator[Path]:
    """Make a temporary folder, and remove those that killed processes have left. Raises OSError.

    The folder has a lock that its process holds, and that the system releases when the process ends.
    """
    for abandoned in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # without a lock file it is new, or of an earlier version
        with suppress(OSError), (abandoned / _LOCK).open("rb") as others:
            fcntl.flock(others, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(abandoned)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = (folder / _LOCK).open("wb")
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():  # another process may have removed it before it was locked
            break
        lock.close()
    _folders.append(folder)
    try:
        with lock:
            yield folder
    finally:
        _folders.remove(folder)
        shutil.rmtree(folder, ignore_errors=True)  # a killed process may still finish a write in it


def kill(jvm: subprocess.Popen[bytes]) -> None:
    """Kill a JVM, and the programs that start it; wait for its end. It leads a group of processes."""
    if jvm.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(jvm.pid, signal.SIGKILL)
        jvm.wait()


def abandon() -> None:
    """Kill the JVMs of this process, and remove the folders of its sessions."""
    for jvm in jvms:
        kill(jvm)
    for folder in _folders:
        shutil.rmtree(folder, ignore_errors=True)
