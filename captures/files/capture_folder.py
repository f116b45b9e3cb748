"""Which files are one capture: those of a folder, and segments in the order of their numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

PART: Final = ".part"
"""How the name of a segment ends that is being written, or was when its writer was killed."""

_CAPTURES: Final = (".pcapng", ".pcap")
_BESIDE: Final = (PART, ".gz", ".zst")
"""What may stand behind those."""


class Segment(NamedTuple):
    """A part of a capture: which one's, and its number there, from 1."""

    capture: str
    number: int


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


def files(path: Path) -> list[Path]:
    """The captures in a folder, by name; a file is itself. Raises FileNotFoundError for an empty folder."""
    if not os.path.isdir(path):  # noqa: PTH112 - a name that is too long is no folder, and no error here
        return [path]
    found = [each for each in map(present, sorted(path.iterdir())) if is_capture(each)]
    if not found:
        raise FileNotFoundError(2, "there is no capture in this folder", str(path))
    return found


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


def is_capture(path: Path) -> bool:
    """Whether it is a file that is called like a capture, packed or not, written to the end or not."""
    name = path.name
    for suffix in _BESIDE:
        name = name.removesuffix(suffix)
    if not name.endswith(_CAPTURES) or not path.is_file():
        return False
    return path.suffix != PART or path.stat().st_size > 0  # one that has just been made
