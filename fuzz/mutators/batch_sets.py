"""Record sets of other batches than expected: several, empty ones, of an older magic, markers, parts."""

from __future__ import annotations

from fuzz.dice import Dice
from fuzz.fieldmap import FieldMap, Part
from fuzz.generators.batches import batch
from fuzz.mutators.mutator import Mutated, Mutator
from fuzz.mutators.whole_batches import NOW, replace, sets
from specs.records import Record, build, control_key, marker_value


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """Batches that are valid each; whether they may stand here is another question."""
    frame = fieldmap.seed.frame
    own = frame[part.start : part.end] or batch(dice, 2, 0)
    match dice.below(8):
        case 0:
            return replace(fieldmap, part, own * 2, dice, "the same batches twice")
        case 1:
            empty = build([], base_offset=0, last_offset=0, base_timestamp=NOW, max_timestamp=NOW)
            return replace(fieldmap, part, empty, dice, "a batch without records")
        case 2:
            magic = dice.below(3)
            other = batch(dice, magic, 0)
            return replace(fieldmap, part, other, dice, f"a batch of magic {magic}")
        case 3:
            other = batch(dice, dice.below(3), 0)
            return replace(fieldmap, part, other, dice, "one more batch behind", behind=True)
        case 4:
            marker = build(
                [Record(0, NOW, control_key(dice.pick(("ABORT", "COMMIT"))), marker_value(0))],
                is_control=True,
                is_transactional=True,
                producer_id=1,
                producer_epoch=0,
            )
            return replace(fieldmap, part, marker, dice, "a control batch")
        case 5:
            cut = own[: dice.between(1, max(len(own) - 1, 1))]
            return replace(fieldmap, part, cut, dice, f"{len(cut)} bytes of {len(own)} of a batch")
        case 6:
            cut = own[: dice.between(1, max(len(own) - 1, 1))]
            return replace(fieldmap, part, cut, dice, "part of a batch behind", behind=True)
        case _:
            noise = dice.some_bytes(dice.pick((1, 11, 12, 16, 17, 60, 61, 200)))
            return replace(fieldmap, part, noise, dice, f"{len(noise)} bytes that are no batch")


BATCH_SETS = Mutator("batch_sets", "other batches than expected", sets, apply, turns=8)
