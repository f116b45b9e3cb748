"""A message with every kind of field, in the classic and in the flexible encoding, and values for it."""

from __future__ import annotations

import uuid
from typing import Any, Final

from barnabas.specs.codec import Codec
from barnabas.specs.declaration import (
    Array,
    Bool,
    Bytes,
    Field,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    NullableBytes,
    NullableString,
    Records,
    String,
    Struct,
    UInt16,
    UInt32,
    Uuid,
)
from barnabas.specs.layout import Layout, Node, resolve

INNER: Final = (
    "id"     / Int16,
    "name"   / String,
    "nodes"  / Array(Int32),
    "note"   / NullableString.since(1).tag(2),
    "weight" / Int8.since(1).tag(0).default(-1),
    "later"  / Int8.since(2).tag(9),
)  # fmt: skip
EVERY: Final[tuple[Field, ...]] = (
    "flag"    / Bool,
    "tiny"    / Int8,
    "short"   / Int16,
    "port"    / UInt16,
    "whole"   / Int32,
    "size"    / UInt32,
    "long"    / Int64,
    "real"    / Float64,
    "key"     / Uuid,
    "text"    / String,
    "maybe"   / NullableString,
    "raw"     / Bytes,
    "none"    / NullableBytes,
    "batch"   / Records.nullable(),
    "numbers" / Array(Int64),
    "perhaps" / Array(Int32).nullable(),
    "after"   / Int16,
    "counted" / Array(Int32).counted(Int16),
    "listed"  / Array("a" / Int8).counted(Int16),
    "keys"    / Array(Uuid),
    "texts"   / Array(String).nullable(),
    "one"     / Struct(*INNER),
    "or_none" / Struct(*INNER).nullable(),
    "many"    / Array(*INNER),
    "last"    / Array(Bool),
    "label"   / String.since(1).tag(0).default("it"),
    "counts"  / Array(Int16).nullable().since(1).tag(1),
    "owner"   / Struct(*INNER).since(1).tag(3),
    "heir"    / Struct(*INNER).nullable().since(1).tag(200).default(None),
    "uuid"    / Uuid.since(1).tag(5),
)  # fmt: skip
VERSIONS: Final = {"classic": 0, "flexible": 1}


def codec_of(version: int, fields: tuple[Field, ...] = EVERY) -> Codec:
    """Return a new codec, whose functions nobody has made yet."""
    return Codec(resolve(fields, version, flexible=version > 0), "it")


def filled(layout: Layout, size: int) -> dict[str, Any]:
    """Return values of which all that has a length has this one; what is deep inside is shorter."""
    return {slot.name: _filled(slot.node, size) for slot in layout.slots}


def _filled(node: Node, size: int) -> Any:
    match node.kind:
        case "struct":
            assert node.struct is not None
            return filled(node.struct, min(size, 40))
        case "array":
            assert node.element is not None
            return [_filled(node.element, min(size, 5))] * size
        case "string":
            return "x" * size
        case "bytes" | "records":
            return b"r" * size
        case "uuid":
            return uuid.UUID(int=size)
        case "bool":
            return size % 2 == 1
        case "float64":
            return size / 7
    return size % 100 - (0 if node.kind.startswith("u") else 1)


def without(layout: Layout) -> dict[str, Any]:
    """Return values that are null wherever that is allowed."""
    values = filled(layout, 2)
    return values | {slot.name: None for slot in layout.slots if slot.node.nullable}


def paths_of(layout: Layout, prefix: str = "") -> list[str]:
    """Return the dotted paths of all fields, those inside others behind them."""
    found = []
    for slot in layout.slots:
        found.append(prefix + slot.name)
        inner = (slot.node.element or slot.node).struct
        if inner is not None:
            found += paths_of(inner, f"{prefix}{slot.name}.")
    return found


def picked(values: Any, path: list[str]) -> Any:
    """Return what a projection of one path should give."""
    if values is None or not path:
        return values
    if isinstance(values, list):
        return [picked(item, path) for item in values]
    return {path[0]: picked(values[path[0]], path[1:])}
