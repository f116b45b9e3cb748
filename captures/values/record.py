"""Format a record with decoded key and value, for log, page and conditions."""

from __future__ import annotations

from typing import Any, Final

from barnabas.captures.values.value import Values
from barnabas.specs.jsonform import Blob, base64_text, to_json
from barnabas.specs.records import Record

FIELDS: Final = ("offset", "timestamp", "key", "value", "headers", "kind", "schema", "why")
"""The fields that a formatted record may have."""


def record_form(record: Record, values: Values, blob: Blob = base64_text) -> dict[str, Any]:
    """Return the JSON form of a record.

    `kind` has the kinds of key and value; `schema` their schemas, and `why` the reason why a part stays
    bytes, if there are any. Bytes are formatted by `blob`; header values are text if they are UTF-8.

    >>> form = record_form(Record(3, 1, b"k", b'{"n": 1}'), Values())
    >>> [form[name] for name in ("offset", "timestamp", "key", "value", "headers", "kind")], len(form)
    ([3, 1, 'k', {'n': 1}, [], {'key': 'text', 'value': 'json'}], 6)
    """
    key = values.read(record.key, record.headers, "key")
    value = values.read(record.value, record.headers, "value")
    parts = {"key": key, "value": value}
    form = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": to_json(key.value, blob),
        "value": to_json(value.value, blob),
        "headers": [[name, _text(part, blob)] for name, part in record.headers],
        "kind": {name: part.kind for name, part in parts.items()},
    }
    if schemas := {n: _number(p.schema) for n, p in parts.items() if p.schema is not None}:
        form["schema"] = schemas
    if reasons := {name: part.reason for name, part in parts.items() if part.reason}:
        form["why"] = reasons
    return form


def _number(schema: Any) -> int | str:
    return schema if isinstance(schema, int) else str(schema)


def _text(data: bytes | None, blob: Blob) -> Any:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return blob(data or b"")
