"""The careful writer: fills in defaults, checks every value, and names the path of what does not fit.

The generated encoder (`barnabas.specs.codec.encoder`) writes complete and fitting values only; for all others
it turns here, which either writes them or says why not.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Mapping
from typing import Any

from barnabas.specs.codec.careful_decoder import FIXED, MAX_STRING
from barnabas.specs.layout import Layout, Node


class Unfit(ValueError):
    """A value that a field can't hold: the dotted path of the field and the reason."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path or 'body'}: {reason}")
        self.path = path
        self.reason = reason


def uvarint(value: int) -> bytes:
    """An unsigned varint in its shortest form.

    >>> uvarint(300).hex()
    'ac02'
    """
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_carefully(layout: Layout, values: Mapping[str, Any]) -> bytes:
    """The bytes of a body; missing fields take their default. Raises Unfit."""
    out: list[bytes] = []
    _struct(out, layout, values, "")
    return b"".join(out)


def check_value(node: Node, value: Any, path: str) -> None:
    """Raise Unfit if a field can't hold a value. path: of the field."""
    _value([], node, value, path)


def _struct(out: list[bytes], layout: Layout, values: Any, path: str) -> None:
    if not isinstance(values, Mapping):
        raise Unfit(path, f"a structure is expected, not {values!r}")
    dot = f"{path}." if path else ""
    names = {slot.name for slot in layout.slots} | ({"_tags"} if layout.flexible else set())
    for name in values:
        if name not in names:
            raise Unfit(f"{dot}{name}", f"no such field in this version; there are {sorted(names)}")
    for slot in layout.plain:
        value = values[slot.name] if slot.name in values else slot.fresh_default()
        _value(out, slot.node, value, dot + slot.name)
    if not layout.flexible:
        return
    tags: dict[int, bytes] = {}
    for tag, data in (values.get("_tags") or {}).items():
        if not isinstance(tag, int) or tag < 0 or not isinstance(data, bytes):
            raise Unfit(f"{dot}_tags", "a table of tag number to bytes is expected")
        tags[tag] = data
    for slot in layout.tagged:
        value = values[slot.name] if slot.name in values else slot.fresh_default()
        if value == slot.fresh_default():
            continue
        assert slot.tag is not None  # noqa: S101
        if slot.tag in tags:
            raise Unfit(f"{dot}_tags", f"tag {slot.tag} is {slot.name}")
        inner: list[bytes] = []
        _value(inner, slot.node, value, dot + slot.name)
        tags[slot.tag] = b"".join(inner)
    out.append(uvarint(len(tags)))
    for tag, data in sorted(tags.items()):
        out += (uvarint(tag), uvarint(len(data)), data)


def _length(out: list[bytes], node: Node, length: int, path: str) -> None:
    if length < 0 and not node.nullable:
        raise Unfit(path, "null is not allowed in this version")
    try:
        out.append(uvarint(length + 1) if node.compact else FIXED[node.length_kind].pack(length))
    except struct.error:
        raise Unfit(path, f"{length} elements; {node.length_kind} can't count them") from None


def _value(out: list[bytes], node: Node, value: Any, path: str) -> None:
    match node.kind:
        case "struct":
            assert node.struct is not None  # noqa: S101
            if node.nullable:
                out.append(b"\x01" if value is not None else b"\0" if node.tagged else b"\xff")
            if value is not None or not node.nullable:
                _struct(out, node.struct, value, path)
        case "array":
            assert node.element is not None  # noqa: S101
            if value is not None and not isinstance(value, list | tuple):
                raise Unfit(path, f"a list is expected, not {value!r}")
            _length(out, node, -1 if value is None else len(value), path)
            for i, item in enumerate(value or ()):
                _value(out, node.element, item, f"{path}[{i}]")
        case "string":
            if value is not None and not isinstance(value, str):
                raise Unfit(path, f"a string is expected, not {value!r}")
            try:
                raw = None if value is None else value.encode()
            except UnicodeEncodeError as problem:
                raise Unfit(path, f"{value!r} is no text: {problem.reason}") from None
            _raw(out, node, raw, path)
        case "bytes" | "records":
            if value is not None and not isinstance(value, bytes | bytearray | memoryview):
                raise Unfit(path, f"bytes are expected, not {value!r}")
            _raw(out, node, None if value is None else bytes(value), path)
        case "uuid":
            if not isinstance(value, uuid.UUID):
                raise Unfit(path, f"a uuid.UUID is expected, not {value!r}")
            out.append(value.bytes)
        case "bool":
            if not isinstance(value, bool):
                raise Unfit(path, f"True or False is expected, not {value!r}")
            out.append(b"\x01" if value else b"\x00")
        case kind:
            if isinstance(value, bool):  # which struct takes for a number
                raise Unfit(path, f"{value!r} is no {kind}")
            try:
                out.append(FIXED[kind].pack(value))
            except (struct.error, OverflowError) as problem:
                raise Unfit(path, f"{value!r} is no {kind}: {problem}") from None


def _raw(out: list[bytes], node: Node, raw: bytes | None, path: str) -> None:
    if raw is None:
        _length(out, node, -1, path)
        return
    if node.kind == "string" and len(raw) > MAX_STRING:
        raise Unfit(path, f"a string of {len(raw)} bytes; {MAX_STRING} is the most")
    _length(out, node, len(raw), path)
    out.append(raw)
