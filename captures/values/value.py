"""A key or a value of a record, whatever it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from barnabas.captures.values.json_value import read_json
from barnabas.captures.values.schema import MAX_BYTES, Lookup, SchemaId, Unread
from barnabas.captures.values.wire_format import Part, framed

_CONTROLS: Final = frozenset({*range(32), 127} - set(b"\t\n\r"))


class Value(NamedTuple):
    """What bytes say."""

    value: Any
    """Plain data; bytes stay bytes where nothing reads them."""
    kind: str
    """`json`, `text`, `avro`, `protobuf`, `json schema` or `bytes`; `null` of none."""
    schema: SchemaId | None = None
    why: str = ""
    """Why it stays bytes."""


def _nobody(_: SchemaId) -> str:
    return "no schemas are given"


@dataclass(frozen=True, slots=True)
class Values:
    """How values are read. lookup: who knows schemas; id_bytes: 4, or 8 as Apicurio's serializers wrote."""

    lookup: Lookup = _nobody
    id_bytes: int = 4

    def read(
        self,
        data: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] = (),
        part: Part = "value",
    ) -> Value:
        """What the bytes say. JSON is what begins with { or [: all else that is UTF-8 is text, so that a key
        `17` stays one. Never raises.

        >>> Values().read(b'{"order_id": 17}')
        Value(value={'order_id': 17}, kind='json', schema=None, why='')
        >>> Values().read(bytes.fromhex("00 00000011 22")).why
        'schema 17: no schemas are given'
        """
        if data is None:
            return Value(None, "null")
        if len(data) > MAX_BYTES:
            return Value(data, "bytes", why=f"{len(data):,} bytes, more than are decoded")
        found = framed(data, headers, part, self.id_bytes)
        if found is not None:
            return self._by_schema(data, found.id, found.payload)
        if data[:1] in (b"{", b"["):
            try:
                return Value(read_json(data), "json")
            except Unread:
                pass  # then it is text that begins so
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return Value(data, "bytes", why="neither text nor by a schema")
        if not _CONTROLS.isdisjoint(data):
            return Value(data, "bytes", why="neither text nor by a schema")
        return Value(text, "text")

    def _by_schema(self, data: bytes, number: SchemaId, payload: bytes) -> Value:
        schema = self.lookup(number)
        try:
            if not isinstance(schema, str):
                kind = "json schema" if schema.kind == "json" else schema.kind
                return Value(schema.read(payload), kind, number)
            if payload[:1] in (b"{", b"["):  # JSON says all itself
                return Value(read_json(payload), "json schema", number)
            why = schema
        except Unread as problem:
            why = schema if isinstance(schema, str) else str(problem)
        return Value(data, "bytes", number, f"schema {number}: {why}")
