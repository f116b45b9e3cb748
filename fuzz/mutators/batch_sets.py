"""Record sets of other batches than expected: several, empty ones, of an older magic, markers, parts."""

from __future__ import annotations

import functools
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.generators.batches import batch
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutating.whole_batches import NOW, replace, sets
from barnabas.specs.records import Record, build, control_key, marker_value

_EMPTY: Final = build([], base_offset=0, last_offset=0, base_timestamp=NOW, max_timestamp=NOW)
_KEPT: Final = 32
"""Batches of each magic, made once."""


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Batches that are valid each; whether they may stand here is another question."""
    frame = fieldmap.seed.frame
    own = frame[part.start : part.end] or _any(dice, 2)
    match dice.below(8):
        case 0:
            return replace(fieldmap, part, own * 2, dice, "the same batches twice")
        case 1:
            return replace(fieldmap, part, _EMPTY, dice, "a batch without records")
        case 2:
            magic = dice.below(3)
            other = _any(dice, magic)
            return replace(fieldmap, part, other, dice, f"a batch of magic {magic}")
        case 3:
            other = _any(dice, dice.below(3))
            return replace(fieldmap, part, other, dice, "one more batch after it", behind=True)
        case 4:
            marker = _marker(dice.pick(("ABORT", "COMMIT")))
            return replace(fieldmap, part, marker, dice, "a control batch")
        case 5:
            cut = own[: dice.between(1, max(len(own) - 1, 1))]
            return replace(fieldmap, part, cut, dice, f"{len(cut)} bytes of {len(own)} of a batch")
        case 6:
            cut = own[: dice.between(1, max(len(own) - 1, 1))]
            return replace(fieldmap, part, cut, dice, "part of a batch after it", behind=True)
        case _:
            noise = dice.some_bytes(dice.pick((1, 11, 12, 16, 17, 60, 61, 200)))
            return replace(fieldmap, part, noise, dice, f"{len(noise)} bytes that are not a batch")


def _any(dice: SeededRandom, magic: int) -> bytes:
    return _batch(magic, dice.below(_KEPT))


@functools.cache
def _batch(magic: int, number: int) -> bytes:
    return batch(SeededRandom("batch", number), magic, 0)


@functools.cache
def _marker(control: str) -> bytes:
    return build(
        [Record(0, NOW, control_key(control), marker_value(0))],
        is_control=True,
        is_transactional=True,
        producer_id=1,
        producer_epoch=0,
    )


BATCH_SETS = Mutator(
    "batch_sets",
    "batches that are repeated, empty, cut off or of another kind",
    sets,
    apply,
    turns=8,
)
