"""Provide a lock between processes that is released when its holder is killed."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path


class RecordLock:
    """A record lock (fcntl(2)) on an unnamed file, created before its processes are forked.

    It excludes processes, not the threads of one process.
    """

    def __init__(self) -> None:
        self.descriptor, path = tempfile.mkstemp()
        """Each process must keep only this descriptor: closing another one of the file would release the
        lock."""
        Path(path).unlink()

    def __enter__(self) -> None:
        fcntl.lockf(self.descriptor, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        fcntl.lockf(self.descriptor, fcntl.LOCK_UN)
