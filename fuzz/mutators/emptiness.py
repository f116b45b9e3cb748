"""Nothing in the place of something: no text, no bytes, no elements, no records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import change
from barnabas.fuzz.mutating.mutator import Mutated, Mutator

_KINDS: Final = frozenset(("string", "bytes", "records", "array", "packed"))


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """What has contents."""
    return [part for part in fieldmap.parts if part.kind in _KINDS and part.end > part.start]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """No contents: the length is 0; the count too, for an array."""
    elements = -part.value if part.kind == "array" else 0
    detail = f"empty, instead of {part.end - part.start} bytes"
    return change(fieldmap, part.around, part.start, part.end, b"", dice, detail, elements=elements)


EMPTINESS = Mutator("emptiness", "an empty value", places, apply)
