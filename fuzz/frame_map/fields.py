"""The map of an encoded frame: every field with its bytes, on which mutators work.

A frame is mapped once for a seed. A mutation is then a splice of bytes, with the lengths, counts and
checksums around it corrected, or deliberately not. The careful decoder of barnabas.specs.codec reads the
layout; this module only notes where it is. Record sets are read by `barnabas.fuzz.frame_map.records`.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.case import Seed, session_of
from barnabas.fuzz.frame_map import records
from barnabas.fuzz.frame_map.parts import Part, Parts
from barnabas.specs.codec.careful_decoder import FIXED, CarefulDecoder
from barnabas.specs.dialects.keys import of_key
from barnabas.specs.headers import header_codec
from barnabas.specs.layout import Layout, Node
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api

__all__ = ["FieldMap", "Packing", "Part", "field_of", "map_of"]

_INDEX: Final = re.compile(r"\[\d+\]")
_MEASURED: Final = frozenset(("string", "bytes", "records", "array"))


@functools.lru_cache(maxsize=1 << 16)
def field_of(path: str) -> str:
    """Return a path without the indices of elements: the field in any message of its kind.

    >>> field_of("topics[3].partitions[0].index")
    'topics[].partitions[].index'
    """
    return _INDEX.sub("[]", path)


class Packing(NamedTuple):
    """The container of a map: the outer map, the part of it, the codec, the batch's magic.

    codec: "none" for the map of a container itself, whose bytes are the part's.
    """

    outer: FieldMap
    part: Part
    codec: str
    magic: int


@dataclass(frozen=True, slots=True, eq=False)
class FieldMap:
    """A seed and its parts, in wire order; a part that holds others comes before them.

    The first part is the whole frame. cut: why there are no more parts, for a malformed frame; "" if all of
    it was read. Equal to itself only, so that results can be cached by it.
    """

    seed: Seed
    parts: tuple[Part, ...]
    index: Mapping[str, int]
    """The index of a path's part."""
    cut: str = ""
    packing: Packing | None = None
    """The container whose content this map is of; the seed's frame is the decompressed bytes."""
    framed: bytes = field(init=False, repr=False)
    """The seed's frame after its size."""
    sums: frozenset[int] = field(init=False, repr=False)
    """Indices of the parts that are checksums."""
    session: str = field(init=False, repr=False)
    """The session of the seed."""

    def __post_init__(self) -> None:
        # computed once: every mutation needs them
        frame = self.seed.frame
        sums = frozenset(at for at, part in enumerate(self.parts) if part.kind == "crc")
        object.__setattr__(self, "framed", len(frame).to_bytes(4, "big") + frame)
        object.__setattr__(self, "sums", sums)
        object.__setattr__(self, "session", session_of(self.seed.origin))


def map_of(seed: Seed) -> FieldMap:
    """Return the map of a frame; of a malformed one, as far as it can be read.

    >>> metadata = Seed(3, 1, "request", bytes.fromhex("0003 0001 00000007 0001 61 ffffffff"), "")
    >>> [(part.path, part.start, part.end) for part in map_of(metadata).parts][-3:]
    [('header.client_id', 10, 11), ('topics.count', 11, 15), ('topics', 15, 15)]
    """
    layouts = _layouts(seed.key, seed.version, seed.direction)
    mapper = _Mapper(seed.frame)
    mapper.parts.add(Part("", "frame", 0, len(seed.frame)))
    cut = ""
    try:
        for path, layout in zip(("header", ""), layouts, strict=True):
            mapper.struct(layout, path)
        if mapper.offset < len(seed.frame):
            cut = f"{len(seed.frame) - mapper.offset} trailing bytes"
    except Malformed as problem:
        cut = str(problem)
    in_order = tuple(mapper.parts.items)
    return FieldMap(seed, in_order, {part.path: at for at, part in enumerate(in_order)}, cut)


def parts_after(
    before: list[Part], data: bytes, start: int, layout: Layout, path: str
) -> list[Part]:
    """Return parts, and those of a structure that fills the data from an offset on. Raises Malformed."""
    mapper = _Mapper(data)
    mapper.parts.items = before
    mapper.offset = start
    mapper.fields(layout, path)
    if mapper.offset < len(data):
        raise Malformed(path, mapper.offset, f"{len(data) - mapper.offset} trailing bytes")
    return mapper.parts.items


@functools.cache
def _layouts(key: int, version: int, direction: str) -> tuple[Layout, Layout]:
    body = api(key).message(direction).layout(version)
    if key not in NAMES:  # of a dialect
        spoken, api_of_dialect = of_key(key)
        if direction == "request":
            return spoken.request_header.layout(0), body
        return spoken.response_header_of(api_of_dialect).layout(0), body
    return header_codec(direction, key, version).layout, body


class _Section(NamedTuple):
    """A tagged section that is being read: its path, and the part that counts its tags."""

    path: str
    around: tuple[int, ...]


class _Mapper(CarefulDecoder):
    """A decoder that notes parts on the way; `around` has the lengths and counts of the next field."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.parts = Parts(len(data))
        self.around: tuple[int, ...] = ()
        self._section: _Section | None = None
        self._numbers: list[int] = []
        """Indices of the parts of the section's varints: its count, tags and sizes."""

    def length(self, node: Node, path: str) -> int | None:
        start, end = self.offset, len(self.data)
        length = super().length(node, path)
        kind = "count" if node.kind == "array" else "length"
        coding = "uvarint+1" if node.compact else node.length_kind
        value, flags = -1 if length is None else length, (node.nullable, node.compact)
        index = self.parts.add(
            Part(f"{path}.{kind}", kind, start, self.offset, *flags, self.around, coding, value)
        )
        self.around = (index, *self.around)
        self.parts.add(Part(path, node.kind, self.offset, end, *flags, self.around, "", value))
        return length

    def present(self, node: Node, path: str) -> bool:
        start = self.offset
        is_present = super().present(node, path)
        coding = "uvarint" if node.tagged else "int8"
        value = 1 if is_present else 0 if node.tagged else -1
        name, end = f"{path}.present", self.offset
        self.parts.add(Part(name, "marker", start, end, True, False, self.around, coding, value))
        return is_present

    def value(self, node: Node, path: str) -> Any:
        fixed = FIXED.get(node.kind)
        if fixed is not None and self.offset + fixed.size <= len(self.data):
            return self._fixed(node.kind, fixed, path)
        around, index, start = self.around, len(self.parts.items), self.offset
        decoded = super().value(node, path)
        if node.kind in _MEASURED:
            self.parts.ends(index + 1, self.offset)
            if node.kind == "records" and decoded:
                records.note(self.data, self.parts, self.parts.items[index + 1])
        elif node.kind != "struct":
            number = decoded if isinstance(decoded, int) else 0
            end, kind = self.offset, node.kind
            self.parts.add(Part(path, kind, start, end, False, False, around, kind, number))
        self.around = around
        return decoded

    def _fixed(self, kind: str, fixed: struct.Struct, path: str) -> int | float:
        """Read a number of a fixed size: half of all fields are, and none can be malformed."""
        start = self.offset
        number: int | float = fixed.unpack_from(self.data, start)[0]
        self.offset = start + fixed.size
        value = number if isinstance(number, int) else 0
        part = Part(path, kind, start, self.offset, False, False, self.around, kind, value)
        self.parts.items.append(part)
        return number

    def struct(self, layout: Layout, path: str) -> dict[str, Any]:
        if path in ("header", ""):
            self.fields(layout, path)
            return {}
        index = self.parts.add(
            Part(path, "struct", self.offset, len(self.data), around=self.around)
        )
        self.fields(layout, path)
        self.parts.ends(index, self.offset)
        return {}

    def fields(self, layout: Layout, path: str) -> None:
        """Read the fields of a structure; their values are not needed here."""
        dot = f"{path}." if path else ""
        for slot in layout.plain:
            self.value(slot.node, dot + slot.name)
        if layout.flexible:
            self.tags(layout, {}, path, dot)

    def tags(self, layout: Layout, values: dict[str, Any], path: str, dot: str) -> None:
        outer, around, numbers = self._section, self.around, self._numbers
        self._section, self._numbers = _Section(f"{dot}_tags", around), []
        index = self.parts.add(
            Part(f"{dot}_tags", "tags", self.offset, len(self.data), around=around)
        )
        super().tags(layout, values, path, dot)
        self._tag_ends(self.offset)
        self.parts.ends(index, self.offset)
        self._section, self.around, self._numbers = outer, around, numbers

    def varint(self, path: str) -> int:
        start = self.offset
        number = super().varint(path)
        section = self._section
        if section is None or path != section.path:
            return number
        # the section's varints: its count, then alternately a tag and its size
        turn = len(self._numbers)
        name = f"{path}[{(turn - 1) // 2}]"
        if turn == 0:
            index = self._number(f"{path}.count", "count", start, number, section.around)
            self.around = (index, *section.around)
        elif turn % 2:
            self._tag_ends(start)
            self.around = (self._numbers[0], *section.around)
            self.parts.add(Part(name, "tag", start, len(self.data), around=self.around))
            index = self._number(f"{name}.tag", "uvarint", start, number, self.around)
        else:
            index = self._number(f"{name}.size", "length", start, number, self.around)
            self.around = (index, *self.around)
        self._numbers.append(index)
        return number

    def take(self, size: int, path: str, what: str) -> bytes:
        taken = super().take(size, path, what)
        if what.startswith("tag "):
            name = f"{path}[{len(self._numbers) // 2 - 1}].data"
            self.parts.add(
                Part(name, "bytes", self.offset - size, self.offset, around=self.around, value=size)
            )
        return taken

    def _number(self, path: str, kind: str, start: int, value: int, around: tuple[int, ...]) -> int:
        part = Part(path, kind, start, self.offset, False, True, around, "uvarint", value)
        return self.parts.add(part)

    def _tag_ends(self, end: int) -> None:
        """Set the end of the tag before, if there is one; its part comes before its number's."""
        if len(self._numbers) > 2:
            self.parts.ends(self._numbers[-2] - 1, end)
