"""Bytes behind the end: of a frame, a record set, a batch, a record, a tag, what is compressed."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import change, of_kinds
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.plural import plural

_SIZES: Final = (1, 1, 2, 4, 16, 1000)


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """More bytes than the fields take; what says how long it is, says so."""
    size = dice.pick(_SIZES)
    more = bytes(size) if dice.chance(2) else dice.some_bytes(size)
    around = (*_own(fieldmap, part), *part.around)
    return change(
        fieldmap, around, part.end, part.end, more, dice, f"{plural(size, 'byte')} more after it"
    )


def _own(fieldmap: FieldMap, part: Part) -> tuple[int, ...]:
    """What says how long a batch, record or tag is; a batch's checksum covers what comes behind, too."""
    if part.kind in ("frame", "records", "container"):
        return ()
    found = (fieldmap.index.get(f"{part.path}.{name}") for name in ("size", "crc", "length"))
    return tuple(index for index in found if index is not None)


TRAILING = Mutator(
    "trailing",
    "bytes after the end",
    of_kinds(("frame", "records", "batch", "record", "tag", "container")),
    apply,
)
