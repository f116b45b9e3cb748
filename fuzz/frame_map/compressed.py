"""What is compressed in a message, mapped as the message is: mutators work on that (`mutators.repacking`).

Of compressed bytes there are two maps: of the container as it stands there, with its headers, lengths and
checksums (`barnabas.fuzz.frame_map.containers`), and of what comes out. Records of magic 2 stand behind an
int32 that counts them, as in the batch, where the count is not packed. A wrapper of magic 0 or 1 holds
messages, of which some may be wrappers again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from barnabas.fuzz.frame_map import containers, records
from barnabas.fuzz.frame_map.fields import FieldMap, Packing
from barnabas.fuzz.frame_map.parts import Part, Parts
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import decompress
from barnabas.specs.records.compression import codec_name

MOST: Final = 64 << 10
"""Bytes of what is unpacked that are mapped; larger ones stay closed."""


def charts_of(chart: FieldMap) -> tuple[FieldMap, ...]:
    """The map of a message, and those of what is packed in it."""
    return chart, *packed(chart)


def packed(chart: FieldMap) -> Iterator[FieldMap]:
    """The maps of containers in a message, of what is packed in them, and in that."""
    for part in chart.parts:
        if part.kind == "packed" and part.end > part.start:
            container = _container(chart, part)
            if container is not None:
                yield container
            inner = _opened(chart, part)
            if inner is not None:
                yield inner
                yield from packed(inner)


def message_of(chart: FieldMap) -> FieldMap:
    """The map of the message that something is packed in."""
    while chart.packing is not None:
        chart = chart.packing.outer
    return chart


def _batch(outer: FieldMap, part: Part) -> tuple[str, int, str]:
    """The path of the batch that a part is in, its magic and its codec."""
    batch = part.path.rpartition(".")[0]
    magic = outer.parts[outer.index[f"{batch}.magic"]].value
    return batch, magic, codec_name(outer.parts[outer.index[f"{batch}.attributes"]].value)


def _container(outer: FieldMap, part: Part) -> FieldMap | None:
    """The map of the compressed bytes themselves; None if they are too many, or of no codec."""
    batch, magic, codec = _batch(outer, part)
    data = outer.seed.frame[part.start : part.end]
    found = containers.declared(codec, magic, data)
    if found is None or len(data) > MOST:
        return None
    name, declaration = found
    parts = Parts(len(data))
    containers.note(data, parts, f"{batch}.{name}", declaration)
    return _map(data, parts, Packing(outer, part, "none", magic))


def _opened(outer: FieldMap, part: Part) -> FieldMap | None:
    """The map of what a part holds; None if it can't be unpacked, or is too large."""
    batch, magic, codec = _batch(outer, part)
    try:
        data = decompress(codec, outer.seed.frame[part.start : part.end], limit=MOST, magic=magic)
    except Malformed:
        return None
    path = f"{batch}.unpacked"
    if magic == 2:
        counted = outer.parts[part.around[0]]
        data = outer.seed.frame[counted.start : counted.end] + data
    parts = Parts(len(data))
    parts.add(Part(path, "unpacked", 0, len(data)))
    if magic == 2:
        records.note_records(data, parts, f"{path}.records")
    else:
        records.note(data, parts, Part(f"{path}.records", "records", 0, len(data)))
    return _map(data, parts, Packing(outer, part, codec, magic))


def _map(data: bytes, parts: Parts, packing: Packing) -> FieldMap:
    found = tuple(parts.found)
    index = {one.path: at for at, one in enumerate(found)}
    return FieldMap(replace(packing.outer.seed, frame=data), found, index, packing=packing)
