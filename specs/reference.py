"""A layout as plain construct: the reference for valid frames.

Anybody who knows construct can read, parse and build with it. It trusts its input: bounds,
oddities and speed are the codec's business (`barnabas.specs.codec`).
"""

from __future__ import annotations

import uuid
from typing import Any

import construct

from barnabas.specs.layout import Layout, Node

PRIMITIVES: dict[str, Any] = {
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


def reference(layout: Layout) -> construct.Struct[Any]:
    """The construct.Struct of a layout. Tagged fields are flattened beside the others."""
    return _Flexible(layout) if layout.flexible else _Body(layout)


def _value(node: Node) -> Any:
    match node.kind:
        case "string":
            text = construct.ExprAdapter(
                construct.GreedyBytes,
                lambda raw, _: raw.decode("utf-8", "replace"),
                lambda value, _: value.encode(),
            )
            return _Lengthy(text, construct.Int16sb, node)
        case "bytes" | "records":
            return _Lengthy(construct.GreedyBytes, construct.Int32sb, node)
        case "array":
            assert node.element is not None  # noqa: S101
            return _Counted(_value(node.element), node)
        case "struct":
            assert node.struct is not None  # noqa: S101
            body = reference(node.struct)
            return _Marked(body, node.tagged) if node.nullable else body
        case kind:
            return PRIMITIVES[kind]


class _Length(construct.Construct):  # type: ignore[misc]
    """A length or count: an integer, or an unsigned varint of length + 1; -1 stands for null."""

    def __init__(self, classic: Any, compact: bool) -> None:
        super().__init__()
        self.subcon = construct.VarInt if compact else classic
        self.shift = int(compact)

    def _parse(self, stream: Any, context: Any, path: str) -> int:
        return int(self.subcon._parse(stream, context, path)) - self.shift

    def _build(self, value: int, stream: Any, context: Any, path: str) -> Any:
        return self.subcon._build(value + self.shift, stream, context, path)


class _Lengthy(construct.Subconstruct):  # type: ignore[misc]
    """A string or bytes behind its length."""

    def __init__(self, subcon: Any, classic: Any, node: Node) -> None:
        super().__init__(subcon)
        self.length = _Length(classic, node.compact)

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        length = self.length._parse(stream, context, path)
        if length < 0:
            return None
        return self.subcon.parse(construct.stream_read(stream, length, path))

    def _build(self, value: Any, stream: Any, context: Any, path: str) -> Any:
        if value is None:
            self.length._build(-1, stream, context, path)
            return None
        raw = self.subcon.build(value)
        self.length._build(len(raw), stream, context, path)
        construct.stream_write(stream, raw, len(raw), path)
        return value


class _Counted(construct.Subconstruct):  # type: ignore[misc]
    """An array behind its count."""

    def __init__(self, subcon: Any, node: Node) -> None:
        super().__init__(subcon)
        self.length = _Length(PRIMITIVES[node.length_kind], node.compact)

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        count = self.length._parse(stream, context, path)
        if count < 0:
            return None
        items = construct.ListContainer()
        for _ in range(count):
            items.append(self.subcon._parsereport(stream, context, path))
        return items

    def _build(self, value: Any, stream: Any, context: Any, path: str) -> Any:
        self.length._build(-1 if value is None else len(value), stream, context, path)
        for item in value or ():
            self.subcon._build(item, stream, context, path)
        return value


class _Marked(construct.Subconstruct):  # type: ignore[misc]
    """A structure that may be null: an int8 in front, negative for null; in tagged fields 0."""

    def __init__(self, subcon: Any, tagged: bool) -> None:
        super().__init__(subcon)
        self.null = 0 if tagged else -1

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        if construct.Int8sb._parse(stream, context, path) <= self.null:
            return None
        return self.subcon._parsereport(stream, context, path)

    def _build(self, value: Any, stream: Any, context: Any, path: str) -> Any:
        construct.Int8sb._build(self.null if value is None else 1, stream, context, path)
        if value is not None:
            self.subcon._build(value, stream, context, path)
        return value


class _Body(construct.Struct):  # type: ignore[misc]
    """A Struct whose result holds the fields and nothing else (construct leaves its stream in).

    Missing fields are built from their defaults; construct.Default would take null for missing.
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
    """A structure with a tagged section behind it (KIP-482); unknown tags are kept in `_tags`."""

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
