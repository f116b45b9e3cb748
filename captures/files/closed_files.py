"""Find the complete captures in a folder: those that no process writes any more.

A capture of barnabas is complete once it has its final name. For other files, the system knows whether a
process writes them (Linux, on a local disk, for the file's owner and root). Elsewhere a file is complete when
another file of its series, such as `seg.pcap12` of `seg.pcap11`, begins later.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import signal
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from barnabas.captures.files.capture_folder import PART, WITHOUT_PACKET, Head, head, listed

_DIGITS: Final = re.compile("[0-9]+")
_PACKED: Final = (".gz", ".zst")
"""Suffixes that a tool appends when it compresses a file."""


class ClosedFile(NamedTuple):
    """A complete capture."""

    identity: str
    """Stays the same when the file is compressed, and changes when a ring of files reuses the name."""
    path: Path


def closed_files(folder: Path, known_identities: Collection[str] = ()) -> list[ClosedFile]:
    """Return the complete captures of a folder, by the time of their first packets. Raises OSError.

    `known_identities` are the identities of files to leave out.
    """
    heads: dict[Path, Head] = {}
    for path in listed(folder.iterdir()).captures:
        # deleted meanwhile: a ring of files reuses names
        with suppress(FileNotFoundError):
            heads[path] = head(path)
    latest = {
        _series(path): path for path, begins in heads.items() if begins.beginning != WITHOUT_PACKET
    }
    complete: dict[str, ClosedFile] = {}
    for path, begins in heads.items():
        if path.suffix == PART or (not begins.ours and begins.beginning == WITHOUT_PACKET):
            continue
        if (name := _identity(path, begins)) in known_identities:
            continue
        written = being_written(path)
        if written is None:
            written = not begins.ours and latest[_series(path)] == path
        if not written:
            complete.setdefault(name, ClosedFile(name, path))
    return [*complete.values()]


def identity(path: Path) -> str:
    """Return the identity of a file. Raises OSError, CaptureError.

    It is the name, and for captures of other tools also the time of the first packet.
    """
    return _identity(path, head(path))


def _identity(path: Path, begins: Head) -> str:
    name = _unpacked_name(path)
    return name if begins.ours else f"{name}@{begins.beginning}"


def being_written(path: Path) -> bool | None:
    """Return whether a process has a file open for writing; None: the system can't tell."""
    lease = getattr(fcntl, "F_SETLEASE", None)
    if lease is None:
        return None
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # a process that opens the file now waits for the end of the lease; SIGURG is ignored
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(file, lease, fcntl.F_RDLCK)
        fcntl.fcntl(file, lease, fcntl.F_UNLCK)
    except OSError as problem:
        return True if problem.errno == errno.EAGAIN else None
    finally:
        os.close(file)
    return False


def _unpacked_name(path: Path) -> str:
    return path.stem if path.suffix in _PACKED else path.name


def _series(path: Path) -> str:
    """Return the name without numbers, which all files of one writer share.

    >>> _series(Path("seg-20261128_0633.pcap12.gz"))
    'seg-_.pcap'
    """
    return _DIGITS.sub("", _unpacked_name(path))
