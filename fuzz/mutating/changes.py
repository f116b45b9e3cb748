"""What most mutators do: other bytes in the place of a part's, with what is around it mended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.cases.tuples import tuple_of
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.mending import LEFT_ONE_IN, leave, splice
from barnabas.fuzz.mutating.mutator import Mutated

Places = Callable[[FieldMap], Sequence[Part]]

NUMBERS: Final = frozenset(
    (
        "int8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "float64",
        "uvarint",
        "varint",
        "varlong",
    )
)
"""The kinds of fields that hold a number."""


def of_kinds(kinds: Collection[str]) -> Places:
    """The parts of some kinds."""

    def places(fieldmap: FieldMap) -> Sequence[Part]:
        return [part for part in fieldmap.parts if part.kind in kinds]

    return places


def whole(fieldmap: FieldMap) -> Sequence[Part]:
    """The frame as a whole; of what is packed in one there is none."""
    return fieldmap.parts[:1] if fieldmap.packing is None else ()


def change(
    fieldmap: FieldMap,
    around: Sequence[int],
    start: int,
    end: int,
    new: bytes,
    dice: SeededRandom,
    detail: str,
    elements: int = 0,
) -> Mutated:
    """One splice as a mutation; now and then one of the numbers around it is left as it was."""
    if dice.below(LEFT_ONE_IN):
        chunk = splice(fieldmap, start, end, new, around, elements=elements)
        return tuple_of(Mutated, ((chunk,), detail, "whole"))
    mend, left = leave(fieldmap, around, len(new) - (end - start), elements, dice)
    chunk = splice(fieldmap, start, end, new, around, elements=elements, mend=mend)
    return Mutated((chunk,), detail + left)


def number(fieldmap: FieldMap, part: Part, new: bytes, dice: SeededRandom, detail: str) -> Mutated:
    """Another number in the place of one."""
    _, _, start, end, _, _, around, _, _, _, _ = part
    return change(fieldmap, around, start, end, new, dice, detail)
