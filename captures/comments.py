"""What the comments in captures of ours say: of a section, and of a flow."""

from __future__ import annotations

import json
from typing import Any, Final

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
