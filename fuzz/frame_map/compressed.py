"""Maps of the compressed parts of a message, on which mutators work as on the message (`mutators.repacking`).

Compressed bytes have two maps: of the container with its headers, lengths and checksums
(`barnabas.fuzz.frame_map.containers`), and of its content. Records of magic 2 follow an int32 with their
number, which in the batch is not compressed. A wrapper of magic 0 or 1 holds messages, some of which may be
wrappers again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from barnabas.fuzz.frame_map import containers, records
from barnabas.fuzz.frame_map.embedded import embedded
from barnabas.fuzz.frame_map.fields import FieldMap, Packing
from barnabas.fuzz.frame_map.parts import Part, Parts
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import decompress
from barnabas.specs.records.compression import codec_name

MOST: Final = 64 << 10
"""Bytes of the largest content that is mapped."""


def charts_of(chart: FieldMap) -> tuple[FieldMap, ...]:
    """Return the map of a message, those of its containers and their contents, and of messages in bytes."""
    return chart, *packed(chart), *embedded(chart)


def packed(chart: FieldMap) -> Iterator[FieldMap]:
    """Yield the maps of containers in a message, of their contents, and of containers in these."""
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
    """Return the map of the message that a container is in."""
    while chart.packing is not None:
        chart = chart.packing.outer
    return chart


def _batch(outer: FieldMap, part: Part) -> tuple[str, int, str]:
    """Return the path of the batch that a part is in, its magic and its codec."""
    batch = part.path.rpartition(".")[0]
    magic = outer.parts[outer.index[f"{batch}.magic"]].value
    return batch, magic, codec_name(outer.parts[outer.index[f"{batch}.attributes"]].value)


def _container(outer: FieldMap, part: Part) -> FieldMap | None:
    """Return the map of the compressed bytes; None if they are too many, or have no container format."""
    batch, magic, codec = _batch(outer, part)
    data = outer.seed.frame[part.start : part.end]
    name_and_declaration = containers.declared(codec, magic, data)
    if name_and_declaration is None or len(data) > MOST:
        return None
    name, declaration = name_and_declaration
    parts = Parts(len(data))
    containers.note(data, parts, f"{batch}.{name}", declaration)
    return _map(data, parts, Packing(outer, part, "none", magic))


def _opened(outer: FieldMap, part: Part) -> FieldMap | None:
    """Return the map of the content of a part; None if it can't be decompressed, or is too large."""
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
    in_order = tuple(parts.items)
    index = {part.path: at for at, part in enumerate(in_order)}
    return FieldMap(replace(packing.outer.seed, frame=data), in_order, index, packing=packing)
