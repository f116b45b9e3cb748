"""Parse the JSON comments in captures that barnabas wrote: metadata of sections and flows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import CaptureError, Section

FORMAT: Final = 1
"""The newest comment format that this version reads."""


def meta_of(block: Section) -> dict[str, Any]:
    """Return the metadata of a section that barnabas wrote; {} for other sections.

    Raises CaptureError if the format of the comments is newer than FORMAT.
    """
    for comment in map(document, block.comments):
        version = comment.get("barnabas")
        if isinstance(version, int):
            if version > FORMAT:
                raise CaptureError(
                    block.file_offset, f"format {version}, written by a newer barnabas"
                )
            return comment
    return {}


def meta_of_file(path: Path) -> dict[str, Any]:
    """Return the metadata of a file's first section; {} if barnabas did not write it.

    Raises OSError, CaptureError.
    """
    with CaptureFile(path) as file:
        first = next(file.blocks(), None)
    return meta_of(first) if isinstance(first, Section) else {}


def began(meta: dict[str, Any]) -> int:
    """Return when a section began, in ns since the epoch; 0: unknown."""
    start_ns = meta.get("began")
    return start_ns if isinstance(start_ns, int) and 0 <= start_ns < 1 << 63 else 0


def scenario_note(meta: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
    """Return the time and the note of a later section's scenario; None without a scenario."""
    if "scenario" not in meta:
        return None
    fields = {name: value for name, value in meta.items() if name != "barnabas"}
    return began(meta), {"barnabas": "scenario", "by": "the next section", **fields}


def names_flow(comment: dict[str, Any]) -> bool:
    """Return whether a comment names the connection of a flow."""
    number = comment.get("connection")
    return comment.get("barnabas") == "flow" and type(number) is int and abs(number) < 1 << 31


def naming(comments: Iterable[str]) -> dict[str, Any]:
    """Return the first comment that names the connection of a flow; {} without one."""
    return next((parsed for parsed in map(document, comments) if names_flow(parsed)), {})


def document(text: str) -> dict[str, Any]:
    """Parse a comment as JSON; the text of any other comment becomes {"text": ...}.

    >>> document('{"frame":5}'), document("look here")
    ({'frame': 5}, {'text': 'look here'})
    """
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    return parsed if isinstance(parsed, dict) else {"text": text}
