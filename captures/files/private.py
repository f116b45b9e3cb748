"""Files with captured traffic or secrets, which only their owner can read, also if they existed before."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from pathlib import Path


def empty(path: Path) -> int:
    """Return the descriptor of a file that is empty now and its owner's alone, to be written.

    A pipe or a device is opened as it is, also by a link (/dev/stdout is one).

    Raises:
        OSError: Also for a link to a file, which would be overwritten under another name than is given; for a
            file of somebody else, who could read it; for one that another process has opened here and still
            writes; and for a pipe without a reader.
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
    """Open what is there; a file is its owner's alone then."""
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
            _own(file)
    except BaseException:
        os.close(file)
        raise
    return file


def _link() -> OSError:
    return OSError(errno.ELOOP, "it is a symbolic link; give the name of the file itself")


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
    """Take the permissions of all others away. Raises PermissionError if it is somebody else's."""
    found = os.fstat(file)
    if found.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it belongs to somebody else")
    if found.st_mode & 0o077:
        with contextlib.suppress(OSError):  # a disk that knows no permissions
            os.fchmod(file, 0o600)
