"""A lock between processes that is free again when its holder is killed."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path


class RecordLock:
    """A record lock (fcntl(2)) on a file without a name. Made before its processes are forked.

    It keeps processes apart, not the threads of one.
    """

    def __init__(self) -> None:
        self.descriptor, path = tempfile.mkstemp()
        """Each process must keep it, and only it: closing another of this file would free the lock."""
        Path(path).unlink()

    def __enter__(self) -> None:
        fcntl.lockf(self.descriptor, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        fcntl.lockf(self.descriptor, fcntl.LOCK_UN)
