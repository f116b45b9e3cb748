"""The careful decoder: walks a layout field by field and reports oddities, and the offset of an error.

It accepts what Kafka's own classes accept (trailing bytes, overlong varints, any boolean, tags out of order
...) and lists each as an oddity. The generated decoder (`barnabas.specs.codec.decoder`) reads only regular
bytes and leaves all others to this one, so its speed does not matter.
"""

from __future__ import annotations

import math
import re
import struct
import uuid
from typing import Any, NamedTuple

from barnabas.specs.codec.budget import BUDGET, FREE, WIDE, TooLarge, element_cost, tag_cost
from barnabas.specs.layout import Layout, Node, Slot
from barnabas.specs.malformed import Malformed

MAX_STRING = 0x7FFF
"""The longest string that Kafka accepts, in bytes, whatever the type of its length."""

MAX_ODDITIES = 1000
"""Oddities that are retained for one body; further ones are counted."""

FOREIGN_TAG = "is of another version"
"""The end of the reason for a tag that only other versions define: older releases do not know it."""

INVALID_UTF8 = "invalid UTF-8"
"""The oddity of text with invalid UTF-8. Each wrong byte is replaced by a character, so the encoded text may
be too long."""

SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
"""Half a surrogate pair in UTF-8: one wrong character to Java, three to Python."""

FIXED = {
    "int8": struct.Struct(">b"),
    "int16": struct.Struct(">h"),
    "uint16": struct.Struct(">H"),
    "int32": struct.Struct(">i"),
    "uint32": struct.Struct(">I"),
    "int64": struct.Struct(">q"),
    "float64": struct.Struct(">d"),
}


class Oddity(NamedTuple):
    """Something that Kafka accepts but never writes: field path, byte offset and description."""

    path: str
    offset: int
    what: str


def text_of(raw: bytes) -> str:
    """Decode bytes as UTF-8, replacing invalid bytes as Java does.

    >>> text_of(bytes.fromhex("61 ff eda080")) == "a" + 2 * chr(0xFFFD)
    True
    """
    return SURROGATE.sub(b"\xef\xbf\xbd", raw).decode("utf-8", "replace")


def decode_carefully(
    layout: Layout, data: bytes, *, lenient: bool = False
) -> tuple[dict[str, Any], list[Oddity]]:
    """Return the values of a body, and its oddities.

    Args:
        layout: The layout of the body.
        data: The body.
        lenient: Whether a malformed tagged section is an oddity, too. Tagged fields have sizes, and the last
            section may be missing, so the other fields can still be read.

    Raises:
        Malformed: Kafka would reject the body.
        TooLarge: The values would take more than `barnabas.specs.codec.budget.BUDGET`.
    """
    reader = CarefulDecoder(data, lenient)
    values = reader.struct(layout, "")
    if reader.offset < len(data):
        reader.odd("", f"{len(data) - reader.offset} trailing bytes")
    if reader.more:
        reader.oddities.append(Oddity("", len(data), f"and {reader.more} more oddities"))
    return values, reader.oddities


class CarefulDecoder:
    """A body that is being read, with the oddities found so far."""

    def __init__(self, data: bytes, lenient: bool = False) -> None:
        self.data = data
        self.offset = 0
        self._lenient = lenient
        self.oddities: list[Oddity] = []
        self.more = 0
        self._left: int | None = None if len(data) <= FREE else BUDGET
        self._costs: dict[int, int] = {}

    def charge(self, size: int) -> None:
        """Subtract bytes from the remaining memory budget. Raises TooLarge."""
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                raise TooLarge

    def elements(self, element: Node, count: int) -> None:
        """Subtract the memory of an array's elements from the remaining budget. Raises TooLarge."""
        if self._left is not None:
            if id(element) not in self._costs:  # the layout outlives this
                self._costs[id(element)] = element_cost(element, None)
            self.charge(count * self._costs[id(element)])

    def odd(self, path: str, description: str) -> None:
        """Record an oddity at the current offset."""
        if len(self.oddities) < MAX_ODDITIES:
            self.oddities.append(Oddity(path, self.offset, description))
        else:
            self.more += 1

    def take(self, size: int, path: str, content: str) -> bytes:
        """Return the next bytes: a number, or the contents of a string ("text"), bytes or records."""
        remaining = len(self.data) - self.offset
        if size > remaining:
            raise Malformed(
                path, self.offset, f"{size} bytes expected for {content}, {remaining} remain"
            )
        self.offset += size
        return self.data[self.offset - size : self.offset]

    def varint(self, path: str) -> int:
        """Read an unsigned varint as Kafka does: up to 5 bytes, as a signed 32-bit number."""
        start, value = self.offset, 0
        for shift in range(0, 35, 7):
            byte = self.take(1, path, "a varint")[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if byte == 0 and shift:
                    self.odd(path, "overlong varint")
                if value >> 32:
                    self.odd(path, "varint of more than 32 bits")
                value &= 0xFFFFFFFF
                return value - (1 << 32) if value >> 31 else value
        raise Malformed(path, start, "a varint goes on after 5 bytes")

    def length(self, node: Node, path: str) -> int | None:
        """Read a length or count and compare it with the remaining bytes; None means null."""
        start = self.offset
        if node.compact:
            length = self.varint(path) - 1
            if length < -(1 << 31):  # an int of Java's has no less
                length = (1 << 31) - 1
        else:
            fixed = FIXED[node.length_kind]
            (length,) = fixed.unpack(self.take(fixed.size, path, f"the length of the {node.kind}"))
        if length < 0:
            if not node.nullable:
                raise Malformed(path, start, f"null where {node.kind} is expected")
            if length < -1:
                self.odd(path, f"length {length} for null")
            return None
        if node.kind == "string" and length > MAX_STRING:
            raise Malformed(path, start, f"a string of {length} bytes; {MAX_STRING} is the most")
        remaining = len(self.data) - self.offset
        if length > remaining:
            unit = "elements" if node.kind == "array" else "bytes"
            raise Malformed(path, start, f"{length} {unit} announced, {remaining} bytes remain")
        return int(length)

    def present(self, node: Node, path: str) -> bool:
        """Read the marker of a nullable structure and return whether the structure is present."""
        if node.tagged:
            marker = self.varint(path)
            regular, is_present = (0, 1), marker > 0
        else:
            byte = self.take(1, path, "a null marker")[0]
            marker = byte - 256 if byte >= 0x80 else byte
            regular, is_present = (-1, 1), marker >= 0
        if marker not in regular:
            self.odd(path, f"null marker {marker}")
        return is_present

    def value(self, node: Node, path: str) -> Any:
        """Read a value."""
        match node.kind:
            case "struct":
                assert node.struct is not None  # noqa: S101
                if node.nullable and not self.present(node, path):
                    return None
                return self.struct(node.struct, path)
            case "array" | "string" | "bytes" | "records":
                length = self.length(node, path)
                return None if length is None else self.content(node, length, path)
            case "uuid":
                return uuid.UUID(bytes=self.take(16, path, "a uuid"))
            case "bool":
                byte = self.take(1, path, "a boolean")[0]
                if byte > 1:
                    self.odd(path, f"boolean {byte}")
                return byte != 0
            case kind:
                fixed = FIXED[kind]
                return fixed.unpack(self.take(fixed.size, path, kind))[0]

    def content(self, node: Node, length: int, path: str) -> Any:
        """Read the contents after a length or count."""
        if node.element is not None:
            self.elements(node.element, length)
            return [self.value(node.element, f"{path}[{i}]") for i in range(length)]
        if node.kind == "string":
            self.charge(WIDE * length)
            return self.text(self.take(length, path, "text"), path)
        self.charge(length)
        return self.take(length, path, node.kind)

    def text(self, raw: bytes, path: str) -> str:
        """Decode text as Java does."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.odd(path, INVALID_UTF8)
            return text_of(raw)

    def struct(self, layout: Layout, path: str) -> dict[str, Any]:
        """Read the fields of a structure."""
        dot = f"{path}." if path else ""
        values = {slot.name: self.value(slot.node, dot + slot.name) for slot in layout.plain}
        if not layout.flexible:
            return values
        fields = values | {slot.name: slot.fresh_default() for slot in layout.tagged}
        self.tags(layout, fields, path, dot)
        ordered = {slot.name: fields.pop(slot.name) for slot in layout.slots}
        return ordered | fields

    def tags(self, layout: Layout, values: dict[str, Any], path: str, dot: str) -> None:
        """Read a tagged section into the values."""
        before = -math.inf
        start = self.offset
        if self._lenient and start == len(self.data):
            self.odd(path, "no tagged section")
            return
        count = self.varint(f"{dot}_tags")
        if count < 0:
            raise Malformed(f"{dot}_tags", start, f"{count} tagged fields")
        cost = 0 if self._left is None else tag_cost(list(layout.tagged))
        for _ in range(count):
            self.charge(cost)
            tag = self.varint(f"{dot}_tags")
            size = self.varint(f"{dot}_tags")
            if tag < 0:
                self.odd(path, f"tag number {tag}")
            if tag <= before:
                self.odd(path, f"tag {tag} after tag {before}")
            before = max(before, tag)
            end = self.offset + size
            can_skip = self._lenient and self.offset <= end <= len(self.data)
            try:
                self.tag(layout, values, tag, size, dot)
            except Malformed as problem:
                if not can_skip or isinstance(problem, TooLarge):
                    raise
                self.odd(path, f"malformed tag {tag}: {problem}")
            if can_skip:
                self.offset = end

    def tag(self, layout: Layout, values: dict[str, Any], tag: int, size: int, dot: str) -> None:
        """Read one tagged field, after its tag and size, into the values."""
        slot = next((slot for slot in layout.tagged if slot.tag == tag), None)
        if slot is not None:
            values[slot.name] = self.tagged(slot, size, dot + slot.name)
        elif tag in layout.foreign_tags:
            raise Malformed(f"{dot}_tags", self.offset, f"tag {tag} {FOREIGN_TAG}")
        elif size < 0:
            raise Malformed(f"{dot}_tags", self.offset, f"size {size} of tag {tag}")
        else:
            self.charge(size)
            unknown = values.setdefault("_tags", {})
            unknown[tag] = self.take(size, f"{dot}_tags", f"tag {tag}")

    def tagged(self, slot: Slot, size: int, path: str) -> Any:
        """Read the value of a tagged field that this version has."""
        start = self.offset
        value = self.value(slot.node, path)
        if self.offset - start != size:
            self.odd(path, f"{self.offset - start} bytes in a tag of size {size}")
        if value == slot.fresh_default():
            self.odd(path, "a tagged field at its default")
        return value
