"""A layout in plain construct: the reference for valid frames.

It is readable, and usable, for anyone who knows construct. It trusts its input: bounds, oddities and speed
are the concern of `barnabas.specs.codec`.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from typing import Any, Final

import construct

from barnabas.specs.layout import Layout, Node

FIXED: Final[dict[str, Any]] = {
    "int8": construct.Int8sb,
    "int16": construct.Int16sb,
    "uint16": construct.Int16ub,
    "int32": construct.Int32sb,
    "uint32": construct.Int32ub,
    "int64": construct.Int64sb,
    "float64": construct.Float64b,
    "bool": construct.Flag,
    "uuid": construct.ExprAdapter(
        construct.Bytes(16),
        lambda raw, _: uuid.UUID(bytes=raw),
        lambda value, _: value.bytes,
    ),
}

_COMPACT: Final = construct.ExprAdapter(
    construct.VarInt, lambda number, _: number - 1, lambda length, _: length + 1
)
"""A length or count in the compact encoding."""


def reference(layout: Layout) -> construct.Struct[Any]:
    """Return the construct.Struct of a layout. Tagged fields are next to the other fields."""
    return _Flexible(layout) if layout.flexible else _Body(layout)


def _value(node: Node) -> Any:
    if node.struct is not None:
        body = reference(node.struct)
        if not node.nullable:
            return body
        return _Behind(construct.Int8sb, lambda _: body, lambda _: 1, 0 if node.tagged else -1)
    if node.kind not in ("string", "bytes", "records", "array"):
        return FIXED[node.kind]
    length = _COMPACT if node.compact else FIXED[node.length_kind]
    if node.element is not None:
        element = _value(node.element)
        return _Behind(length, lambda count: construct.Array(count, element))
    content = _Behind(length, construct.Bytes)
    return construct.ExprAdapter(content, _text, _raw) if node.kind == "string" else content


def _text(raw: bytes | None, context: Any) -> str | None:
    return None if raw is None else raw.decode("utf-8", "replace")


def _raw(text: str | None, context: Any) -> bytes | None:
    return None if text is None else text.encode()


class _Behind(construct.Construct):  # type: ignore[misc]
    """A value that follows its length, its count or a null marker; the lowest number means null.

    Args:
        number: The type of the length, count or marker.
        content: The type of the value, by that number.
        number_of: The number to write for a value.
        null: The highest number that means null.
    """

    def __init__(
        self,
        number: Any,
        content: Callable[[int], Any],
        number_of: Callable[[Any], int] = len,
        null: int = -1,
    ) -> None:
        super().__init__()
        self.number = number
        self.content = functools.lru_cache(maxsize=64)(content)  # lengths come again and again
        self.number_of = number_of
        self.null = null

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        number = self.number._parse(stream, context, path)
        if number <= self.null:
            return None
        return self.content(number)._parsereport(stream, context, path)

    def _build(self, value: Any, stream: Any, context: Any, path: str) -> Any:
        number = self.null if value is None else self.number_of(value)
        self.number._build(number, stream, context, path)
        if value is not None:
            self.content(number)._build(value, stream, context, path)
        return value


class _Body(construct.Struct):  # type: ignore[misc]
    """A Struct whose result has only the fields; construct would add its stream.

    Missing fields are built from their defaults; construct.Default would treat null as missing.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(*(slot.name / _value(slot.node) for slot in layout.plain))
        self.plain = layout.plain

    def _emitparse(self, code: Any) -> str:
        # construct.compile() would write a plain Struct in its place; so it calls _parse instead
        raise NotImplementedError

    def _emitbuild(self, code: Any) -> str:
        raise NotImplementedError

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        value = super()._parse(stream, context, path)
        value.pop("_io", None)
        return value

    def _build(self, value: Any, stream: Any, context: Any, path: str) -> Any:
        defaults = {slot.name: slot.fresh_default() for slot in self.plain}
        return super()._build(defaults | dict(value or {}), stream, context, path)


class _Flexible(_Body):
    """A structure that ends with a tagged section (KIP-482); unknown tags are kept in `_tags`."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.tagged = {slot.tag: (slot, _value(slot.node)) for slot in layout.tagged}

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        value = super()._parse(stream, context, path)
        for slot, _ in self.tagged.values():
            value[slot.name] = slot.fresh_default()
        unknown = {}
        for _ in range(construct.VarInt._parse(stream, context, path)):
            tag = construct.VarInt._parse(stream, context, path)
            size = construct.VarInt._parse(stream, context, path)
            data = construct.stream_read(stream, size, path)
            if tag in self.tagged:
                slot, subcon = self.tagged[tag]
                value[slot.name] = subcon.parse(data)
            else:
                unknown[tag] = data
        if unknown:
            value["_tags"] = unknown
        return value

    def _build(self, value: Any, stream: Any, context: Any, path: str) -> Any:
        value = value or {}
        super()._build(value, stream, context, path)
        tags: dict[int, bytes] = dict(value.get("_tags") or {})
        for tag, (slot, subcon) in self.tagged.items():
            item = value[slot.name] if slot.name in value else slot.fresh_default()
            if item != slot.fresh_default():
                assert tag is not None  # noqa: S101
                tags[tag] = subcon.build(item)
        construct.VarInt._build(len(tags), stream, context, path)
        for tag, data in sorted(tags.items()):
            construct.VarInt._build(tag, stream, context, path)
            construct.VarInt._build(len(data), stream, context, path)
            construct.stream_write(stream, data, len(data), path)
        return value
