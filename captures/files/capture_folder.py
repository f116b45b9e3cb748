"""Which files are one capture: those of a folder by what is in them, and in which order they are read."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.files.file_format import NEITHER, CaptureFile
from barnabas.captures.files.growth import Growth
from barnabas.captures.files.pcapng import CaptureError, Packet, Section

PART: Final = ".part"
"""How the name of a segment ends that is being written, or was when its writer was killed."""

WITHOUT_PACKET: Final = 1 << 63
"""The beginning of a file whose packets are still to come: it is the last one."""

_NUMBER: Final = re.compile("([0-9]+)")


class Segment(NamedTuple):
    """A part of a capture: which one's, and its number there, from 1."""

    capture: str
    number: int


class Listing(NamedTuple):
    """The files of a folder."""

    captures: list[Path]
    """By the time of their first packets."""
    others: Mapping[Path, str]
    """Files that are not captures, with the reason; "" for what is neither pcap nor pcapng."""


def segment_of(meta: Mapping[str, Any]) -> Segment | None:
    """What a file of ours says of itself; None if it is a capture of its own.

    >>> segment_of({"segment": {"capture": "5f0e", "number": 3}}), segment_of({"segment": 3})
    (Segment(capture='5f0e', number=3), None)
    """
    said = meta.get("segment")
    if not isinstance(said, dict):
        return None
    capture, number = said.get("capture"), said.get("number")
    if not isinstance(capture, str) or type(number) is not int or number < 1:
        return None
    return Segment(capture, number)


def listing(path: Path) -> Listing:
    """List the captures in a folder, whatever they are called; a file is itself.

    Raises:
        FileNotFoundError: The folder has no capture.
        OSError: The folder can't be read.
    """
    if not os.path.isdir(path):  # noqa: PTH112 - a name that is too long is no folder, and no error here
        return Listing([path], {})
    found = listed(path.iterdir())
    if not found.captures:
        raise FileNotFoundError(2, "there is no capture in this folder", str(path))
    return found


def listed(paths: Iterable[Path]) -> Listing:
    """Sort files by the time of their first packets, and tell captures from other files.

    Hidden files, and segments that have just been made, are left out.
    """
    begins: dict[Path, int] = {}
    others = {}
    for path in sorted(map(present, paths), key=natural):
        if path.name.startswith(".") or not path.is_file():
            continue
        try:
            begins[path] = head(path).beginning
        except FileNotFoundError:  # gone meanwhile: a ring of files has no place for it
            continue
        except OSError as problem:
            others[path] = problem.strerror or str(problem)
        except CaptureError as problem:
            if path.suffix != PART or size_of(path):
                others[path] = "" if problem.reason.startswith(NEITHER) else problem.reason
    return Listing(sorted(begins, key=begins.__getitem__), others)


class Head(NamedTuple):
    """How a capture file begins."""

    ours: bool
    """Whether a proxy has written it."""
    beginning: int
    """When its first packet was captured, in ns since 1970; WITHOUT_PACKET: it has none."""


def head(path: Path) -> Head:
    """Read how a file begins. Raises OSError, and CaptureError if it is no capture."""
    at = path.stat()
    return _head(path, (at.st_ino, at.st_size, at.st_mtime_ns))


@lru_cache(maxsize=1 << 16)
def _head(path: Path, state: object) -> Head:
    """Read how a file begins. state: another one means that the file may have changed."""
    with CaptureFile(path) as file:
        blocks = file.blocks()
        first = next(blocks, None)
        ours = isinstance(first, Section) and any('"barnabas"' in one for one in first.comments)
        with suppress(CaptureError):  # damage is found again where the file is read
            for block in chain([first], blocks):
                if isinstance(block, Packet):
                    return Head(ours, block.ts_ns)
    return Head(ours, WITHOUT_PACKET)


def natural(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Return a key that sorts names as a person does: `seg.pcap2` before `seg.pcap10`.

    >>> sorted(map(Path, ("a10", "a2", "a")), key=natural)
    [PosixPath('a'), PosixPath('a2'), PosixPath('a10')]
    """
    parts = _NUMBER.split(path.name)
    return [(int(part) if at % 2 else -1, part) for at, part in enumerate(parts)], str(path)


def arrivals(growth: Growth, given: Iterable[Path], known: Collection[Path]) -> list[Path]:
    """Wait for new captures in the folders among those given; empty: none came for long."""
    folders = [path for path in given if path.is_dir()]
    while folders and any(map(growth.more, folders)):
        # a segment gets its last name when the next one is begun
        found = [path for folder in folders for path in listing(folder).captures]
        names = {path.with_suffix("") if path.suffix == PART else path for path in known}
        new = [path for path in found if path not in names and path.with_suffix("") not in names]
        if new:
            return new
    return []


def present(path: Path) -> Path:
    """A segment may have got its name since its folder was read."""
    if path.suffix == PART and not path.exists():
        return path.with_suffix("")
    return path


def size_of(path: Path) -> int:
    """Bytes of a file; 0 if it is gone."""
    try:
        return present(path).stat().st_size
    except OSError:
        return 0


def in_order(found: Iterable[tuple[Path, Segment | None]]) -> list[Path]:
    """Files as they follow each other: the segments of a capture stand where the first given one does,
    by their numbers, and each once."""
    groups: dict[object, dict[int, Path]] = {}
    for place, (path, segment) in enumerate(found):
        if segment is None:
            groups[place] = {0: path}
        else:
            groups.setdefault(segment.capture, {}).setdefault(segment.number, path)
    return [group[number] for group in groups.values() for number in sorted(group)]


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in rising order, as a person writes them.

    >>> ranges([3, 5, 6, 7, 9])
    '3, 5-7, 9'
    """
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][-1] == number - 1:
            found[-1] = [found[-1][0], number]
        else:
            found.append([number])
    return ", ".join("-".join(map(str, pair)) for pair in found)
