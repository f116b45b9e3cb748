"""Puts what was packed back where it stood, and mends lengths and checksums around it."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Packing
from barnabas.fuzz.mutating.changes import change
from barnabas.fuzz.mutating.contents import summed
from barnabas.fuzz.mutating.mutator import Mutated
from barnabas.specs.containers import xerial
from barnabas.specs.records import compress, raw_snappy


def packed_again(chart: FieldMap, made: Mutated, dice: SeededRandom) -> Mutated:
    """The message with a container as it was made, its content's checksums right or not, or with what was
    unpacked, compressed again; what is around it is mended, or sometimes not."""
    packing = chart.packing
    if packing is None:
        return made
    outer, part, codec, magic = packing
    data = b"".join(chunk[4:] for chunk in made.chunks)  # sizes of frames stand in front
    start, around, new, detail = part.start, part.around, data, made.detail
    if codec == "none":
        name = chart.parts[0].path.rpartition(".")[2]
        new, said = summed(name, magic, chart.seed.frame, data, dice)
        detail += said
    else:
        count = b""
        if magic == 2:
            count, data = data[:4], data[4:]
            start, around = outer.parts[part.around[0]].start, part.around[1:]
        new, detail = count + _compressed(packing, data), f"{made.detail}, packed by {codec}"
    return packed_again(outer, change(outer, around, start, part.end, new, dice, detail), dice)


def _compressed(packing: Packing, data: bytes) -> bytes:
    """In the framing that it came in, of snappy's two."""
    outer, part, codec, magic = packing
    if codec == "snappy" and not outer.seed.frame.startswith(xerial.MAGIC, part.start):
        return raw_snappy(data)
    return compress(codec, data, magic=magic)
