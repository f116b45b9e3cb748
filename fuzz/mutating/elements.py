"""What the mutators of arrays share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.frame_map.fields import FieldMap, Part

_ELEMENT: Final = re.compile(r"\[\d+\]$")
_NUMBERS_ABOUT: Final = frozenset(("marker", "length", "count", "crc"))


def elements(fieldmap: FieldMap) -> Sequence[Part]:
    """The elements of arrays that have bytes, batches of a record set and single tags among them."""
    return [
        part
        for part in fieldmap.parts
        if part.end > part.start
        and part.kind not in _NUMBERS_ABOUT
        and _ELEMENT.search(part.path)
        and (part.around or fieldmap.packing is not None)
    ]


def counted(part: Part) -> int:
    """1, or 0 for a batch: a record set says how many bytes it has, not how many batches."""
    return 0 if part.kind == "batch" else 1


def extent(fieldmap: FieldMap, part: Part) -> tuple[int, int, tuple[int, ...]]:
    """The bytes of an element with the length in front of it, if it has one, and what is around both."""
    if part.around:
        own = fieldmap.parts[part.around[0]]
        if own.kind == "length" and own.path == f"{part.path}.length" and own.end == part.start:
            return own.start, part.end, part.around[1:]
    return part.start, part.end, part.around
