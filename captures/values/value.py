"""Decode a key or a value of a record, whatever its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from barnabas.captures.values.json_value import read_json
from barnabas.captures.values.schema import MAX_BYTES, Lookup, SchemaId, Unread
from barnabas.captures.values.wire_format import Part, framed

_CONTROLS: Final = frozenset({*range(32), 127} - set(b"\t\n\r"))


class Value(NamedTuple):
    """A decoded key or value."""

    value: Any
    """Plain data; bytes if undecodable."""
    kind: str
    """`json`, `text`, `avro`, `protobuf`, `json schema` or `bytes`; `null` if absent."""
    schema: SchemaId | None = None
    reason: str = ""
    """Why it stays bytes."""


def _nobody(_: SchemaId) -> str:
    return "no schemas are given"


@dataclass(frozen=True, slots=True)
class Values:
    """A decoder of keys and values.

    `lookup` finds schemas; `id_bytes`: 4, or 8 as older Apicurio serializers write.
    """

    lookup: Lookup = _nobody
    id_bytes: int = 4

    def read(
        self,
        data: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] = (),
        part: Part = "value",
    ) -> Value:
        """Decode bytes; never raises.

        Only bytes that begin with { or [ are read as JSON. All other UTF-8 is text, so a key `17` stays text.

        >>> Values().read(b'{"order_id": 17}')
        Value(value={'order_id': 17}, kind='json', schema=None, reason='')
        >>> Values().read(bytes.fromhex("00 00000011 22")).reason
        'schema 17: no schemas are given'
        """
        if data is None:
            return Value(None, "null")
        if len(data) > MAX_BYTES:
            return Value(data, "bytes", reason=f"{len(data):,} bytes, more than are decoded")
        framed_value = framed(data, headers, part, self.id_bytes)
        if framed_value is not None:
            return self._by_schema(data, framed_value.id, framed_value.payload)
        if data[:1] in (b"{", b"["):
            try:
                return Value(read_json(data), "json")
            except Unread:
                pass  # then it is text
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return Value(data, "bytes", reason="neither text nor by a schema")
        if not _CONTROLS.isdisjoint(data):
            return Value(data, "bytes", reason="neither text nor by a schema")
        return Value(text, "text")

    def _by_schema(self, data: bytes, number: SchemaId, payload: bytes) -> Value:
        schema = self.lookup(number)
        try:
            if not isinstance(schema, str):
                kind = "json schema" if schema.kind == "json" else schema.kind
                return Value(schema.read(payload), kind, number)
            if payload[:1] in (b"{", b"["):  # JSON needs no schema
                return Value(read_json(payload), "json schema", number)
            reason = schema
        except Unread as problem:
            reason = schema if isinstance(schema, str) else str(problem)
        return Value(data, "bytes", number, f"schema {number}: {reason}")
