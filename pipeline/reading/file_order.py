"""The order in which the files of a capture are read, whatever order they are given in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from barnabas.captures.comments import meta_of_file
from barnabas.captures.files.capture_folder import (
    head,
    in_order,
    listing,
    natural,
    segment_of,
)


def sorted_paths(paths: Sequence[Path]) -> list[Path]:
    """Sort files by the time of their first packets, then by their names; segments of a capture by their
    numbers, and each once. A folder stands for the captures in it.

    Raises OSError, and CaptureError if one is no capture.
    """
    files = [path for each in paths for path in listing(each).captures]
    found = sorted(files, key=lambda path: (head(path).beginning, natural(path)))
    return in_order((path, segment_of(meta_of_file(path))) for path in found)
