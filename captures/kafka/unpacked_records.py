"""Replace record sets in decoded bodies by their records."""

from __future__ import annotations

from typing import Any

from barnabas.captures.values.value import Values
from barnabas.captures.values.wire_format import Part
from barnabas.specs import records
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Record


def unpacked(value: Any, values: Values | None = None) -> Any:
    """Return a value with every `records` field as a list of {offset, key, value, headers}.

    Timestamps and the fields of batches are left out, since they differ from run to run. Undecodable record
    sets stay bytes.

    Args:
        value: A decoded body, or a part of one.
        values: Decodes keys and values in Avro or Protobuf; None: they stay bytes.

    >>> from barnabas.specs.records import Record, build
    >>> unpacked({"index": 0, "records": build([Record(0, 1, None, b"v")])})
    {'index': 0, 'records': [{'offset': 0, 'key': None, 'value': b'v', 'headers': []}]}
    """
    if isinstance(value, list):
        return [unpacked(item, values) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _records(inner, values)
        if name == "records" and isinstance(inner, bytes)
        else unpacked(inner, values)
        for name, inner in value.items()
    }


def _records(data: bytes, values: Values | None) -> Any:
    try:
        return [
            {
                "offset": record.offset,
                "key": _part(record, "key", values),
                "value": _part(record, "value", values),
                "headers": [list(header) for header in record.headers],
            }
            for batch in records.read(data)
            for record in batch
        ]
    except Malformed:
        return data


def _part(record: Record, part: Part, values: Values | None) -> Any:
    data = record.key if part == "key" else record.value
    if values is None:
        return data
    decoded = values.read(data, record.headers, part)
    return decoded.value if decoded.kind in ("avro", "protobuf") else data
