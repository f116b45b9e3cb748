"""The body of a message that waits, as somebody edits it: fields with their types, records, bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from barnabas.captures.kafka.exchange import body_version
from barnabas.captures.kafka.wording import shorten
from barnabas.captures.writing.masking import Masking
from barnabas.proxy.connection.breakpoints import Waiting
from barnabas.specs import api, records
from barnabas.specs.jsonform import base64_text, to_json
from barnabas.specs.layout import Layout
from barnabas.specs.malformed import Malformed

SHOWN: Final = 1 << 20
"""Bytes of a body that are shown; a longer one can be decided on all the same."""

RECORDS: Final = 200
"""Records of a record set that are shown; their keys, values and headers have SHOWN bytes at most, too."""

MAX_OUTPUT: Final = 4 << 20
"""Bytes that a batch may take decompressed; of a larger one no records are shown."""


def shown(found: Waiting, masking: Masking) -> dict[str, Any]:
    """`body` and `hex`, null where it is long or can't be read, and the `problem` then; `types` by path
    without places; `records` by path: the first ones, as far as they can be read and are not long.

    masked: something in it is hidden, so that the bytes are not those that wait.
    """
    body = masking.body(found.body, found.direction, found.key, found.version).data
    about: dict[str, Any] = {
        "body": None,
        "types": {},
        "records": {},
        "problem": "",
        "hex": None,
        "masked": body != found.body,
    }
    if len(body) > SHOWN:
        return about | {"problem": f"it has {len(body):,} bytes, more than are shown"}
    about["hex"] = body.hex()
    try:
        version = body_version(found.key, found.version, found.direction, body)
        codec = api(found.key).message(found.direction).codec(version)
        values = codec.decode(body)
    except (LookupError, Malformed) as why:
        return about | {"problem": shorten(str(why), 200)}
    types = types_of(codec.layout)
    sets = records_in(values, types)
    return about | {"body": to_json(values), "types": types, "records": sets}


def types_of(layout: Layout) -> dict[str, str]:
    """The types of a body's fields, by path without places."""
    return dict(_types(layout, ""))


def records_in(values: Any, types: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
    """The records of a decoded body's record sets, by path: see `shown`."""
    sets: dict[str, list[dict[str, Any]]] = {}
    room = SHOWN
    for path, data in _record_sets(values, types, "", ""):
        sets[path] = []
        for record in _records(data):
            room -= sum(len(part or b"") for part in (record.key, record.value))
            room -= sum(len(name) + len(value or b"") for name, value in record.headers)
            if room < 0 or len(sets[path]) >= RECORDS:
                break
            sets[path].append(_record(record))
    return sets


def _types(layout: Layout, prefix: str) -> Iterator[tuple[str, str]]:
    for slot in layout.slots:
        node, name = slot.node, prefix + slot.name
        while node.element is not None:
            node, name = node.element, f"{name}[]"
        if node.struct is None:
            yield name, node.kind
        else:
            yield from _types(node.struct, f"{name}.")


def _record_sets(
    value: Any, types: dict[str, str], path: str, kind: str
) -> Iterator[tuple[str, bytes]]:
    """The record sets in decoded values; kind: the path without places."""
    match value:
        case dict():
            for name, inner in value.items():
                dot = f".{name}" if path else str(name)
                yield from _record_sets(inner, types, path + dot, kind + dot)
        case list():
            for place, inner in enumerate(value):
                yield from _record_sets(inner, types, f"{path}[{place}]", f"{kind}[]")
        case bytes() if value and types.get(kind) == "records":
            yield path, value


def _records(data: bytes) -> Iterator[records.Record]:
    """Those that can be read: the bytes of all are shown."""
    with suppress(Malformed):
        for batch in records.read(data, max_output=MAX_OUTPUT):
            yield from batch


def _record(record: records.Record) -> dict[str, Any]:
    parts = [record.key, record.value, *(value for _, value in record.headers)]
    coded = False
    try:
        key, value, *values = [None if part is None else part.decode() for part in parts]
    except UnicodeDecodeError:
        key, value, *values = [None if part is None else base64_text(part) for part in parts]
        coded = True
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": key,
        "value": value,
        "base64": coded,
        "headers": [[name, text] for (name, _), text in zip(record.headers, values, strict=True)],
    }
