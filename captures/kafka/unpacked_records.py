"""Bodies with the records of their record sets in place of the bytes."""

from __future__ import annotations

from typing import Any

from barnabas.specs import records
from barnabas.specs.malformed import Malformed


def unpacked(value: Any) -> Any:
    """The same, with every field `records` as a list of {offset, key, value, headers}.

    Timestamps and the batches' own fields are left out: they are others in each run. What can't be
    read stays bytes.

    >>> from barnabas.specs.records import Record, build
    >>> unpacked({"index": 0, "records": build([Record(0, 1, None, b"v")])})
    {'index': 0, 'records': [{'offset': 0, 'key': None, 'value': b'v', 'headers': []}]}
    """
    if isinstance(value, list):
        return [unpacked(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _records(inner) if name == "records" and isinstance(inner, bytes) else unpacked(inner)
        for name, inner in value.items()
    }


def _records(data: bytes) -> Any:
    try:
        return [
            {
                "offset": record.offset,
                "key": record.key,
                "value": record.value,
                "headers": [list(header) for header in record.headers],
            }
            for batch in records.read(data)
            for record in batch
        ]
    except Malformed:
        return data
