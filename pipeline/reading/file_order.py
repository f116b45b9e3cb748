"""The order in which the files of a capture are read, whatever order they are given in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from barnabas.captures.files.capture_folder import in_order, segment_of
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.reader import CaptureReader


def sorted_paths(paths: Sequence[Path]) -> list[Path]:
    """The files by the time of their first packets, then by their names; segments of a capture by their
    numbers, and each once.

    Raises OSError, and CaptureError if one is no capture.
    """
    found = sorted(paths, key=lambda path: (_beginning(path), path.name, str(path)))
    return in_order((path, segment_of(CaptureReader(path).meta)) for path in found)


def _beginning(path: Path) -> int:
    reader = CaptureReader(path)
    try:
        return reader.beginning()
    except CaptureError:  # damaged before its first packet, which is said where it is read
        return 0
