"""Find the captures in a folder by their content, and sort files and segments for reading."""

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
"""The suffix of a segment that is being written, or whose writer was killed."""

WITHOUT_PACKET: Final = 1 << 63
"""The beginning of a file without packets, which sorts last."""

_NUMBER: Final = re.compile("([0-9]+)")


class Segment(NamedTuple):
    """The identity of a capture segment: its capture, and its number from 1."""

    capture: str
    number: int


class Listing(NamedTuple):
    """The files of a folder."""

    captures: list[Path]
    """Captures, by the time of their first packets."""
    others: Mapping[Path, str]
    """Other files, with the reason; "" for a file that is neither pcap nor pcapng."""


def segment_of(meta: Mapping[str, Any]) -> Segment | None:
    """Return the segment that a file's metadata names; None if the file is a capture of its own.

    >>> segment_of({"segment": {"capture": "5f0e", "number": 3}}), segment_of({"segment": 3})
    (Segment(capture='5f0e', number=3), None)
    """
    segment = meta.get("segment")
    if not isinstance(segment, dict):
        return None
    capture, number = segment.get("capture"), segment.get("number")
    if not isinstance(capture, str) or type(number) is not int or number < 1:
        return None
    return Segment(capture, number)


def listing(path: Path) -> Listing:
    """List the captures in a folder, whatever their names; a file lists itself.

    Raises:
        FileNotFoundError: The folder has no capture.
        OSError: The folder can't be read.
    """
    if not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises for a name that is too long
        return Listing([path], {})
    folder = listed(path.iterdir())
    if not folder.captures:
        raise FileNotFoundError(2, "no capture in this folder", str(path))
    return folder


def listed(paths: Iterable[Path]) -> Listing:
    """Sort captures by the time of their first packets, and separate other files.

    Hidden files and segments without content are left out.
    """
    begins: dict[Path, int] = {}
    others = {}
    for path in sorted(map(present, paths), key=natural):
        if path.name.startswith(".") or not path.is_file():
            continue
        try:
            begins[path] = head(path).beginning
        except FileNotFoundError:  # deleted meanwhile, as in a ring of files
            continue
        except OSError as problem:
            others[path] = problem.strerror or str(problem)
        except CaptureError as problem:
            if path.suffix != PART or size_of(path):
                others[path] = "" if problem.reason.startswith(NEITHER) else problem.reason
    return Listing(sorted(begins, key=begins.__getitem__), others)


class Head(NamedTuple):
    """The beginning of a capture file."""

    ours: bool
    """Whether a proxy wrote the file."""
    beginning: int
    """When its first packet was captured, in ns since 1970; WITHOUT_PACKET without packets."""


def head(path: Path) -> Head:
    """Read how a file begins. Raises OSError, and CaptureError if it is not a capture."""
    at = path.stat()
    return _head(path, (at.st_ino, at.st_size, at.st_mtime_ns))


@lru_cache(maxsize=1 << 16)
def _head(path: Path, state: object) -> Head:
    """Read how a file begins. Another `state` means that the file may have changed since the last call."""
    with CaptureFile(path) as file:
        blocks = file.blocks()
        first = next(blocks, None)
        ours = isinstance(first, Section) and any(
            '"barnabas"' in comment for comment in first.comments
        )
        with suppress(CaptureError):  # damage is reported when the file is read
            for block in chain([first], blocks):
                if isinstance(block, Packet):
                    return Head(ours, block.ts_ns)
    return Head(ours, WITHOUT_PACKET)


def natural(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Return a key that sorts numbers in names by value: `seg.pcap2` before `seg.pcap10`.

    >>> sorted(map(Path, ("a10", "a2", "a")), key=natural)
    [PosixPath('a'), PosixPath('a2'), PosixPath('a10')]
    """
    parts = _NUMBER.split(path.name)
    return [(int(part) if at % 2 else -1, part) for at, part in enumerate(parts)], str(path)


def arrivals(
    growth: Growth, given_paths: Iterable[Path], known_paths: Collection[Path]
) -> list[Path]:
    """Wait for new captures in the given folders; empty if none arrives within the limit of `growth`."""
    folders = [path for path in given_paths if path.is_dir()]
    while folders and any(map(growth.more, folders)):
        # a segment gets its final name when the next one begins
        captures = [path for folder in folders for path in listing(folder).captures]
        names = {path.with_suffix("") if path.suffix == PART else path for path in known_paths}
        new = [path for path in captures if path not in names and path.with_suffix("") not in names]
        if new:
            return new
    return []


def present(path: Path) -> Path:
    """Return the current path of a segment, which may have got its final name since its folder was listed."""
    if path.suffix == PART and not path.exists():
        return path.with_suffix("")
    return path


def size_of(path: Path) -> int:
    """Return the size of a file in bytes; 0 if it is gone."""
    try:
        return present(path).stat().st_size
    except OSError:
        return 0


def in_order(files: Iterable[tuple[Path, Segment | None]]) -> list[Path]:
    """Sort files for reading: the segments of a capture by number, at the position of the first given one.

    Each segment is returned once.
    """
    groups: dict[object, dict[int, Path]] = {}
    for index, (path, segment) in enumerate(files):
        if segment is None:
            groups[index] = {0: path}
        else:
            groups.setdefault(segment.capture, {}).setdefault(segment.number, path)
    return [group[number] for group in groups.values() for number in sorted(group)]


def ranges(numbers: Sequence[int]) -> str:
    """Format ascending numbers with ranges.

    >>> ranges([3, 5, 6, 7, 9])
    '3, 5-7, 9'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, pair)) for pair in runs)
