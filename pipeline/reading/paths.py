"""The files of a capture: their order, and the mark of those that are left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from barnabas.captures.comments import meta_of_file
from barnabas.captures.files.capture_folder import head, in_order, listing, natural, segment_of

SKIPPED: Final = "unreadable"
"""The kind of an error row about a file that was left out, since it is no capture."""


def sorted_paths(paths: Sequence[Path]) -> list[Path]:
    """Return files sorted by the time of their first packet, then by name.

    Segments of a capture are sorted by number, without duplicates. A folder stands for the captures in it.

    Raises:
        OSError: A file can't be read.
        CaptureError: A file is no capture.
    """
    files = [path for each in paths for path in listing(each).captures]
    by_time = sorted(files, key=lambda path: (head(path).beginning, natural(path)))
    return in_order((path, segment_of(meta_of_file(path))) for path in by_time)
