"""Bodies with the records of their record sets in place of the bytes."""

from __future__ import annotations

from typing import Any

from barnabas.captures.values.value import Values
from barnabas.captures.values.wire_format import Part
from barnabas.specs import records
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Record


def unpacked(value: Any, values: Values | None = None) -> Any:
    """The same, with every field `records` as a list of {offset, key, value, headers}.

    Timestamps and the batches' own fields are left out: they are others in each run. What can't be
    read stays bytes. values: how keys and values are read that are in Avro or Protobuf.

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
    found = values.read(data, record.headers, part)
    return found.value if found.kind in ("avro", "protobuf") else data
