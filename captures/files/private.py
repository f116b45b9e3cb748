"""Files with captured traffic or secrets, which only their owner can read, also if they existed before."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
from pathlib import Path


def empty(path: Path) -> int:
    """The descriptor of a file that is empty now and its owner's alone, to be written.

    A link is followed; a pipe or a device is opened as it is. Raises OSError: also for a file of
    somebody else, who could read it, for one that another process has opened here and still writes,
    and for a pipe without a reader.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        file = os.open(path, flags, 0o600)
    except OSError as problem:
        if problem.errno == errno.ENXIO and stat.S_ISFIFO(path.stat().st_mode):
            raise OSError(errno.ENXIO, "the pipe has no reader; start its reader first") from None
        raise
    try:
        if stat.S_ISREG(os.fstat(file).st_mode):
            _own(file)
            _lock(file)
            os.ftruncate(file, 0)
        os.set_blocking(file, True)
    except BaseException:
        os.close(file)
        raise
    return file


def replace(path: Path, data: bytes) -> None:
    """A file with these bytes, its owner's alone, in the place of what was there: others see the one
    before or all of this one. Raises OSError."""
    # 0600, never there before
    file, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(file, "wb") as written:
            written.write(data)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink()
        raise


def write(path: Path, data: bytes) -> None:
    """These bytes to what `empty` opens. Raises OSError."""
    with os.fdopen(empty(path), "wb") as written:
        written.write(data)


def folder(path: Path) -> None:
    """A folder that its owner alone can enter; one that is there stays as it is. Raises OSError."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)


def _lock(file: int) -> None:
    """Keep others from emptying the file while it is written; the lock goes with the descriptor."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OSError(errno.EBUSY, "another process is writing to it") from None
    except OSError:
        pass  # a disk that knows no locks


def _own(file: int) -> None:
    """Take the permissions of all others away."""
    if os.fstat(file).st_mode & 0o077:
        try:
            os.fchmod(file, 0o600)
        except OSError:
            if os.fstat(file).st_uid != os.geteuid():
                raise
            # else a disk that knows no permissions
