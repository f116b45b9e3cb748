"""The careful encoder: adds defaults, checks every value, and names the path of a value that does not fit.

The generated encoder (`barnabas.specs.codec.encoder`) writes complete and valid values only. It leaves all
others to this one, which writes them or raises Unfit.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Mapping
from typing import Any, Final

from barnabas.specs.codec.careful_decoder import FIXED, MAX_STRING
from barnabas.specs.layout import Layout, Node


class Unfit(ValueError):
    """A value that a field can't hold: the dotted path of the field, and the reason."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path or 'body'}: {reason}")
        self.path = path
        self.reason = reason


ONE_BYTE: Final = tuple(bytes((value,)) for value in range(128))
"""The encodings of the varints 0 to 127."""


def uvarint(value: int) -> bytes:
    """Return an unsigned varint in its shortest form; a negative number is written in 32 bits, as in Java.

    >>> uvarint(300).hex(), uvarint(-1).hex()
    ('ac02', 'ffffffff0f')
    """
    if 0 <= value < 128:
        return ONE_BYTE[value]
    if value < 0:
        value &= 0xFFFFFFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_carefully(layout: Layout, values: Mapping[str, Any]) -> bytes:
    """Return the bytes of a body; missing fields get their default. Raises Unfit."""
    writer = _CarefulEncoder()
    writer.struct(layout, values, "")
    return b"".join(writer.out)


def check_value(node: Node, value: Any, path: str) -> None:
    """Raise Unfit if a field can't hold a value. `path` is the field's path."""
    _CarefulEncoder().value(node, value, path)


_BYTES: Final = ((bytes, bytearray, memoryview), "bytes are expected")

_EXPECTED: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "array": ((list, tuple), "a list is expected"),
    "string": ((str,), "a string is expected"),
    "bytes": _BYTES,
    "records": _BYTES,
    "uuid": ((uuid.UUID,), "a uuid.UUID is expected"),
    "bool": ((bool,), "True or False is expected"),
}
"""The types of values by kind, and the words for them in Unfit; numbers are what `struct` accepts."""

_LENGTHY: Final = frozenset(("array", "string", "bytes", "records"))
"""Kinds that begin with a length or count, which may mean null."""


class _CarefulEncoder:
    """The bytes of a body written so far."""

    def __init__(self) -> None:
        self.out: list[bytes] = []

    def struct(self, layout: Layout, values: Any, path: str) -> None:
        if not isinstance(values, Mapping):
            raise Unfit(path, f"a structure is expected, not {values!r}")
        dot = f"{path}." if path else ""
        names = {slot.name for slot in layout.slots} | ({"_tags"} if layout.flexible else set())
        for name in values:
            if name not in names:
                reason = f"no such field in this version; there are {sorted(names)}"
                raise Unfit(f"{dot}{name}", reason)
        for slot in layout.plain:
            value = values[slot.name] if slot.name in values else slot.fresh_default()
            self.value(slot.node, value, dot + slot.name)
        if layout.flexible:
            self.tags(layout, values, dot)

    def tags(self, layout: Layout, values: Mapping[str, Any], dot: str) -> None:
        """Write a tagged section: known fields that differ from their default, and unknown fields."""
        tags: dict[int, bytes] = {}
        for tag, data in (values.get("_tags") or {}).items():
            if not isinstance(tag, int) or tag < 0 or not isinstance(data, bytes):
                raise Unfit(f"{dot}_tags", "a table of tag number to bytes is expected")
            tags[tag] = data
        for slot in layout.tagged:
            default = slot.fresh_default()
            value = values.get(slot.name, default)
            if value == default:
                continue
            assert slot.tag is not None  # noqa: S101
            if slot.tag in tags:
                raise Unfit(f"{dot}_tags", f"tag {slot.tag} is {slot.name}")
            inner = _CarefulEncoder()
            inner.value(slot.node, value, dot + slot.name)
            tags[slot.tag] = b"".join(inner.out)
        self.out.append(uvarint(len(tags)))
        for tag, data in sorted(tags.items()):
            self.out += (uvarint(tag), uvarint(len(data)), data)

    def value(self, node: Node, value: Any, path: str) -> None:
        types, expected = _EXPECTED.get(node.kind, ((object,), ""))
        lengthy = node.kind in _LENGTHY
        fits = isinstance(value, types) or (lengthy and value is None)
        if not fits:
            raise Unfit(path, f"{expected}, not {value!r}")
        if lengthy:
            self.lengthy(node, value, path)
        elif node.struct is not None:
            if node.nullable:
                null = b"\0" if node.tagged else b"\xff"
                self.out.append(null if value is None else b"\x01")
            if value is not None or not node.nullable:
                self.struct(node.struct, value, path)
        elif node.kind == "uuid":
            self.out.append(value.bytes)
        elif node.kind == "bool":
            self.out.append(b"\x01" if value else b"\x00")
        else:
            self.out.append(_number(node.kind, value, path))

    def lengthy(self, node: Node, value: Any, path: str) -> None:
        """Write a length or count, and the contents."""
        if value is None:
            self.length(node, -1, path)
        elif node.element is not None:
            self.length(node, len(value), path)
            for i, item in enumerate(value):
                self.value(node.element, item, f"{path}[{i}]")
        else:
            raw = _text(value, path) if node.kind == "string" else bytes(value)
            self.length(node, len(raw), path)
            self.out.append(raw)

    def length(self, node: Node, length: int, path: str) -> None:
        """Write a length or count; -1 means null."""
        if length < 0 and not node.nullable:
            raise Unfit(path, "null is not allowed in this version")
        try:
            fixed = uvarint(length + 1) if node.compact else FIXED[node.length_kind].pack(length)
        except struct.error:
            reason = f"{length} elements; {node.length_kind} can't count them"
            raise Unfit(path, reason) from None
        self.out.append(fixed)


def _text(value: str, path: str) -> bytes:
    try:
        raw = value.encode()
    except UnicodeEncodeError as problem:
        raise Unfit(path, f"{value!r} is not valid text: {problem.reason}") from None
    if len(raw) > MAX_STRING:
        raise Unfit(path, f"a string of {len(raw)} bytes; {MAX_STRING} is the most")
    return raw


def _number(kind: str, value: Any, path: str) -> bytes:
    if isinstance(value, bool):  # which struct takes for a number
        raise Unfit(path, f"{value!r} is not a valid {kind}")
    try:
        return FIXED[kind].pack(value)
    except (struct.error, OverflowError) as problem:
        raise Unfit(path, f"{value!r} is not a valid {kind}: {problem}") from None
