"""Decode Avro's binary encoding (https://avro.apache.org/docs/1.12.0/specification/) to plain data.

Decimals and uuids become text; other logical types stay the numbers that encode them. A value of a union has
no type name. fastavro decodes the same, faster; this decoder is bounded, whatever sizes the bytes announce.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any, Final
from uuid import UUID

from barnabas.captures.values.schema import DEPTH, VALUES, Unread, check_nesting, name_cost

_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")


class _Cursor:
    """The reading position, and the budget of values that may still come."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.left = min(VALUES, 1_000 + 64 * len(data))
        self.depth = 0

    def take(self, size: int) -> bytes:
        """Read bytes."""
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise Unread(f"{size} bytes announced, {len(self.data) - self.at} remain")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def spend(self, count: int) -> None:
        """Take values from the budget."""
        self.left -= count
        if self.left < 0:
            raise Unread(f"more than {VALUES:,} values, or than its bytes can have")

    def down(self) -> None:
        """Enter a nested value."""
        self.depth += 1
        if self.depth > DEPTH:
            raise Unread(f"more than {DEPTH} values within each other")


Read = Callable[[_Cursor], Any]


def avro_reader(schema: Any, named_schemas: Iterable[Any] = ()) -> Callable[[bytes], Any]:
    r"""Return a decoder for values of a schema in JSON form. Raises Unread if the schema is invalid.

    `named_schemas` are schemas whose names it may use.

    >>> avro_reader({"type": "array", "items": "int"})(b"\x04\x02\x03\x00")
    [1, -2]
    """
    check_nesting(schema)
    try:
        read = _Named(named_schemas).reader(schema, "")
    except RecursionError:
        raise Unread("its Avro types refer to each other too deeply") from None

    def whole(data: bytes) -> Any:
        cursor = _Cursor(data)
        value = read(cursor)
        if cursor.at != len(data):
            raise Unread(f"{len(data) - cursor.at} bytes after the value")
        return value

    return whole


class _Named:
    """Decoders by the full names of their types."""

    def __init__(self, named_schemas: Iterable[Any]) -> None:
        self._readers: dict[str, Read] = {}
        self._known: dict[str, Any] = {}
        for schema in named_schemas:
            check_nesting(schema)
            if isinstance(schema, dict) and isinstance(schema.get("name"), str):
                self._known[_full(schema, "")] = schema

    def reader(self, schema: Any, space: str) -> Read:
        """Return the decoder of a schema in a namespace."""
        if isinstance(schema, str):
            return _PRIMITIVES.get(schema) or self._reference(schema, space)
        if isinstance(schema, list):
            return _union([self.reader(branch, space) for branch in schema])
        if not isinstance(schema, dict):
            raise Unread("no Avro schema")
        type_name = schema.get("type")
        match type_name:
            case "record" | "error":
                return self._record(schema, space)
            case "enum":
                symbols = schema.get("symbols")
                return self._define(
                    schema, space, _enum(symbols if isinstance(symbols, list) else [])
                )
            case "fixed":
                size = schema.get("size")
                if not isinstance(size, int):
                    raise Unread("an Avro fixed without a size")
                return self._define(
                    schema, space, _logical(schema, lambda cursor: cursor.take(size))
                )
            case "array":
                return _blocks(self.reader(schema.get("items"), space))
            case "map":
                value = self.reader(schema.get("values"), space)
                pairs = _blocks(lambda cursor: (_string(cursor), value(cursor)))
                return lambda cursor: dict(pairs(cursor))
        return _logical(schema, self.reader(type_name, space))

    def _reference(self, name: str, space: str) -> Read:
        full = name if "." in name or not space else f"{space}.{name}"
        for each in (full, name):
            if each not in self._readers and each in self._known:
                self.reader(self._known.pop(each), "")
            if each in self._readers:
                readers, at = self._readers, each
                return lambda cursor: readers[at](cursor)
        raise Unread(f"no Avro type {name[:100]!r}: is it in a schema that this one refers to?")

    def _define(self, schema: dict[str, Any], space: str, read: Read) -> Read:
        self._readers[_full(schema, space)] = read
        return read

    def _record(self, schema: dict[str, Any], space: str) -> Read:
        full = _full(schema, space)
        fields: list[tuple[str, Read]] = []
        cost = 1

        def read(cursor: _Cursor) -> dict[str, Any]:
            cursor.down()
            cursor.spend(cost)
            record = {name: inner(cursor) for name, inner in fields}
            cursor.depth -= 1
            return record

        self._readers[full] = read  # before its fields, which may be of its own type
        listed = schema.get("fields")
        for field in listed if isinstance(listed, list) else ():
            if not isinstance(field, dict) or not isinstance(field.get("name"), str):
                raise Unread("an Avro field without a name")
            fields.append((field["name"], self.reader(field.get("type"), full.rpartition(".")[0])))
            cost += 1 + name_cost(field["name"])
        return read


def _full(schema: dict[str, Any], space: str) -> str:
    name, inner = schema.get("name"), schema.get("namespace", space)
    if not isinstance(name, str) or not isinstance(inner, str):
        raise Unread("an Avro type without a name")
    return name if "." in name or not inner else f"{inner}.{name}"


def _long(cursor: _Cursor) -> int:
    value = shift = 0
    data = cursor.data
    while True:
        if cursor.at >= len(data):
            raise Unread("the bytes end before a number does")
        byte = data[cursor.at]
        cursor.at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value >> 1 ^ -(value & 1)
        shift += 7
        if shift > 63:
            raise Unread("a number of more than 64 bits")


def _bytes(cursor: _Cursor) -> bytes:
    return cursor.take(_long(cursor))


def _string(cursor: _Cursor) -> str:
    try:
        return _bytes(cursor).decode()
    except UnicodeDecodeError:
        raise Unread("a string that is not UTF-8") from None


def _boolean(cursor: _Cursor) -> bool:
    byte = cursor.take(1)[0]
    if byte > 1:
        raise Unread(f"a boolean of {byte}")
    return bool(byte)


_PRIMITIVES: Final[dict[str, Read]] = {
    "null": lambda _: None,
    "boolean": _boolean,
    "int": _long,
    "long": _long,
    "float": lambda cursor: _FLOAT.unpack(cursor.take(4))[0],
    "double": lambda cursor: _DOUBLE.unpack(cursor.take(8))[0],
    "bytes": _bytes,
    "string": _string,
}


def _enum(symbols: list[Any]) -> Read:
    if not all(isinstance(symbol, str) for symbol in symbols):
        raise Unread("an Avro enum whose symbols are not names")

    def read(cursor: _Cursor) -> str:
        symbol: str = _at(symbols, _long(cursor))
        cursor.spend(name_cost(symbol))
        return symbol

    return read


def _union(branches: list[Read]) -> Read:
    def read(cursor: _Cursor) -> Any:
        branch: Read = _at(branches, _long(cursor))
        return branch(cursor)

    return read


def _at(items: list[Any], index: int) -> Any:
    if not 0 <= index < len(items):
        raise Unread(f"number {index} of {len(items)}")
    return items[index]


def _blocks(item: Read) -> Read:
    def read(cursor: _Cursor) -> list[Any]:
        cursor.down()
        items: list[Any] = []
        while count := _long(cursor):
            if count < 0:
                count = -count
                _long(cursor)  # the size of the block, for readers that skip it
            cursor.spend(count)
            items += [item(cursor) for _ in range(count)]
        cursor.depth -= 1
        return items

    return read


def _logical(schema: dict[str, Any], read: Read) -> Read:
    match schema.get("logicalType"), schema.get("scale", 0):
        case "decimal", int(scale) if schema.get("type") in ("bytes", "fixed"):
            return lambda cursor: _decimal(read(cursor), scale)
        case "uuid", _ if schema.get("type") == "fixed" and schema.get("size") == 16:
            return lambda cursor: str(UUID(bytes=read(cursor)))
    return read


def _decimal(data: bytes, scale: int) -> str | bytes:
    """Return a decimal as text with all its digits; implausible ones stay bytes."""
    if len(data) > 64 or not 0 <= scale <= 200:
        return data
    number = int.from_bytes(data, signed=True)
    digits = str(abs(number)).zfill(scale + 1)
    point = len(digits) - scale
    return ("-" if number < 0 else "") + digits[:point] + ("." + digits[point:] if scale else "")
