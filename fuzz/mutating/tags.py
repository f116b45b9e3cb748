"""What the mutators of tagged sections share (KIP-482): a count, then number, size and data of each."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import uvarint
from barnabas.fuzz.mutating.changes import change
from barnabas.fuzz.mutating.mutator import Mutated


def sections(fieldmap: FieldMap) -> Sequence[Part]:
    """All tagged sections that were read whole."""
    parts = fieldmap.parts
    following = itertools.pairwise(parts)
    return [part for part, count in following if part.kind == "tags" and count.kind == "count"]


def count_of(fieldmap: FieldMap, section: Part) -> Part:
    """The count of a section, which comes right behind it in the map."""
    return fieldmap.parts[fieldmap.index[section.path] + 1]


def last_number(fieldmap: FieldMap, section: Part) -> int:
    """The highest number that a section has now, or -1."""
    parts = fieldmap.parts
    index = fieldmap.index[section.path] + 1
    if parts[index].value <= 0:
        return -1
    own = f"{section.path}["
    found = []
    for path, kind, start, _, _, _, _, _, value, *_ in parts[index:]:
        if start >= section.end:
            break
        if kind == "uvarint" and path.startswith(own) and path.endswith("].tag"):
            found.append(value)
    return max(found, default=-1)


def tag(number: int, data: bytes, size: int | None = None) -> bytes:
    """One tag; its size is that of its data, unless another is given."""
    return uvarint(number) + uvarint(len(data) if size is None else size) + data


def append(
    fieldmap: FieldMap, section: Part, tags: bytes, number: int, dice: SeededRandom, detail: str
) -> Mutated:
    """So many tags more at the end of a section, with its count mended."""
    index = fieldmap.index[section.path] + 1
    around = (index, *section.around)
    end = section.end
    return change(fieldmap, around, end, end, tags, dice, detail, elements=number)
