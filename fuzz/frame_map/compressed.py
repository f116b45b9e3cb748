"""What is compressed in a message, mapped as the message is: mutators work on that (`mutating.repacking`).

Records of magic 2 stand behind an int32 that counts them, as in the batch, where the count is not packed.
A wrapper of magic 0 or 1 holds messages, of which some may be wrappers again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.frame_map import records
from barnabas.fuzz.frame_map.fields import FieldMap, Packing, map_of
from barnabas.fuzz.frame_map.parts import Part, Parts
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import decompress
from barnabas.specs.records.compression import codec_name

MOST: Final = 64 << 10
"""Bytes of what is unpacked that are mapped; larger ones stay closed."""


def charts_of(seed: Seed) -> tuple[FieldMap, ...]:
    """The map of a message, and those of what is packed in it."""
    chart = map_of(seed)
    return chart, *unpacked(chart)


def unpacked(chart: FieldMap) -> Iterator[FieldMap]:
    """The maps of what is packed in a message, and in that."""
    for part in chart.parts:
        if part.kind == "packed" and part.end > part.start:
            inner = _opened(chart, part)
            if inner is not None:
                yield inner
                yield from unpacked(inner)


def message_of(chart: FieldMap) -> FieldMap:
    """The map of the message that something is packed in."""
    while chart.packing is not None:
        chart = chart.packing.outer
    return chart


def _opened(outer: FieldMap, part: Part) -> FieldMap | None:
    """The map of what a part holds; None if it can't be unpacked, or is too large."""
    batch = part.path.rpartition(".")[0]
    magic = outer.parts[outer.index[f"{batch}.magic"]].value
    codec = codec_name(outer.parts[outer.index[f"{batch}.attributes"]].value)
    try:
        data = decompress(codec, outer.seed.frame[part.start : part.end], limit=MOST, magic=magic)
    except Malformed:
        return None
    path = f"{batch}.unpacked"
    if magic == 2:
        counted = outer.parts[part.around[0]]
        data = outer.seed.frame[counted.start : counted.end] + data
    parts = Parts(len(data))
    parts.note(path, "unpacked", 0, len(data))
    if magic == 2:
        records.note_records(data, parts, f"{path}.records")
    else:
        records.note(data, parts, Part(f"{path}.records", "records", 0, len(data)))
    found = tuple(parts.found)
    return FieldMap(
        replace(outer.seed, frame=data),
        found,
        {one.path: at for at, one in enumerate(found)},
        packing=Packing(outer, part, codec, magic),
    )
