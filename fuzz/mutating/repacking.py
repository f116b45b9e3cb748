"""Compresses mutated records again, and mends lengths and checksums around them."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap
from barnabas.fuzz.mutating.changes import change
from barnabas.fuzz.mutating.mutator import Mutated
from barnabas.specs.records import compress


def packed_again(chart: FieldMap, made: Mutated, dice: SeededRandom) -> Mutated:
    """The message with what was unpacked as it was made; what is around it is mended, or sometimes not."""
    packing = chart.packing
    if packing is None:
        return made
    outer, part, codec, magic = packing
    data = b"".join(chunk[4:] for chunk in made.chunks)  # sizes of frames stand in front
    if magic == 2:
        count, data = data[:4], data[4:]
        counted = outer.parts[part.around[0]]
        start, around, new = counted.start, part.around[1:], count + compress(codec, data)
    else:
        start, around, new = part.start, part.around, compress(codec, data, magic=magic)
    again = change(outer, around, start, part.end, new, dice, f"{made.detail}, packed by {codec}")
    return packed_again(outer, again, dice)
