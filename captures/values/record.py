"""A record with what is in it decoded: the one form that log, page and conditions have."""

from __future__ import annotations

from typing import Any, Final

from barnabas.captures.values.value import Values
from barnabas.specs.jsonform import Blob, base64_text, to_json
from barnabas.specs.records import Record

FIELDS: Final = ("offset", "timestamp", "key", "value", "headers", "kind", "schema", "why")
"""What a record's form may have."""


def record_form(record: Record, values: Values, blob: Blob = base64_text) -> dict[str, Any]:
    """JSON of a record: `kind` says what key and value were; `schema` and `why`, where there is anything to
    say, which schema each names, and why it stays bytes. Bytes are as `blob` has them; values of headers are
    text where they are UTF-8.

    >>> record_form(Record(3, 1, b"k", b'{"n": 1}'), Values())
    {'offset': 3, 'timestamp': 1, 'key': 'k', 'value': {'n': 1}, 'headers': [], 'kind': {'key': 'text', \
'value': 'json'}}
    """
    key = values.read(record.key, record.headers, "key")
    value = values.read(record.value, record.headers, "value")
    parts = {"key": key, "value": value}
    found = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": to_json(key.value, blob),
        "value": to_json(value.value, blob),
        "headers": [[name, _text(part, blob)] for name, part in record.headers],
        "kind": {name: part.kind for name, part in parts.items()},
    }
    if schemas := {n: _number(p.schema) for n, p in parts.items() if p.schema is not None}:
        found["schema"] = schemas
    if why := {name: part.why for name, part in parts.items() if part.why}:
        found["why"] = why
    return found


def _number(schema: Any) -> int | str:
    return schema if isinstance(schema, int) else str(schema)


def _text(data: bytes | None, blob: Blob) -> Any:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return blob(data or b"")
