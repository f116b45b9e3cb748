"""Write files with captured traffic or secrets that only their owner can read.

Files that existed before are restricted, too.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from pathlib import Path


def empty(path: Path) -> int:
    """Open an empty file for writing that only its owner can read, and return the descriptor.

    A pipe or a device is opened as it is, also through a link (such as /dev/stdout).

    Raises:
        OSError: Also for a symbolic link to a file, whose target would be overwritten under another name; for
            a file of another user, who could read it; for a file that another process writes; and for a pipe
            without a reader.
    """
    flags = os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        file = _present(path, flags)
    try:
        if stat.S_ISREG(os.fstat(file).st_mode):
            _lock(file)
            os.ftruncate(file, 0)
        os.set_blocking(file, True)
    except BaseException:
        os.close(file)
        raise
    return file


def _present(path: Path, flags: int) -> int:
    """Open an existing file; a regular file is restricted to its owner."""
    linked = path.is_symlink()
    try:
        file = os.open(path, flags | (0 if linked else os.O_NOFOLLOW))
    except OSError as problem:
        if problem.errno == errno.ENXIO and stat.S_ISFIFO(path.stat().st_mode):
            raise OSError(errno.ENXIO, "the pipe has no reader; start its reader first") from None
        if linked and problem.errno == errno.ENOENT:
            raise _link() from None
        raise
    try:
        if stat.S_ISREG(os.fstat(file).st_mode):
            if linked:
                raise _link()
            _restrict(file)
    except BaseException:
        os.close(file)
        raise
    return file


def _link() -> OSError:
    return OSError(errno.ELOOP, "it is a symbolic link; give the name of the file itself")


def replace(path: Path, data: bytes) -> None:
    """Replace a file atomically by one with these bytes that only its owner can read. Raises OSError."""
    # mode 0600, with a new name
    file, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(file, "wb") as written:
            written.write(data)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink()
        raise


def write(path: Path, data: bytes) -> None:
    """Write bytes to a file opened by `empty`. Raises OSError."""
    with os.fdopen(empty(path), "wb") as written:
        written.write(data)


def folder(path: Path) -> None:
    """Create a folder that only its owner can enter; an existing one stays unchanged. Raises OSError."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)


def _lock(file: int) -> None:
    """Lock a file against truncation by other processes; closing the descriptor releases the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OSError(errno.EBUSY, "another process is writing to it") from None
    except OSError:
        pass  # a file system without locks


def _restrict(file: int) -> None:
    """Remove the permissions of other users. Raises PermissionError for another user's file."""
    status = os.fstat(file)
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it belongs to another user")
    if status.st_mode & 0o077:
        with contextlib.suppress(OSError):  # a file system without permissions
            os.fchmod(file, 0o600)
