"""The comments in captures that barnabas has written: what they say of a section, and of a flow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import CaptureError, Section

FORMAT: Final = 1
"""The newest version of the comments' layout that is understood."""


def meta_of(block: Section) -> dict[str, Any]:
    """The comment of a section of ours, or {}. Raises CaptureError if it is of a later format."""
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
    """The comment of the first section in a file of ours, or {}. Raises OSError, CaptureError."""
    with CaptureFile(path) as file:
        first = next(file.blocks(), None)
    return meta_of(first) if isinstance(first, Section) else {}


def began(meta: dict[str, Any]) -> int:
    """When a section began, in ns since the epoch; 0: it does not say."""
    said = meta.get("began")
    return said if isinstance(said, int) and 0 <= said < 1 << 63 else 0


def scenario_note(meta: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
    """(time, remark) behind which the scenario of a later section holds; None: it has none."""
    if "scenario" not in meta:
        return None
    said = {name: value for name, value in meta.items() if name != "barnabas"}
    return began(meta), {"barnabas": "scenario", "by": "the next section", **said}


def names_flow(comment: dict[str, Any]) -> bool:
    """Whether a comment says which connection a flow belongs to."""
    number = comment.get("connection")
    return comment.get("barnabas") == "flow" and type(number) is int and abs(number) < 1 << 31


def document(text: str) -> dict[str, Any]:
    """A comment of ours, or a text of others.

    >>> document('{"frame":5}'), document("look here")
    ({'frame': 5}, {'text': 'look here'})
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"text": text}
