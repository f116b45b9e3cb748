"""The body of a waiting message as a person edits it: fields with their types, records, bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from barnabas.captures.kafka.exchange import body_version
from barnabas.captures.kafka.wording import shorten
from barnabas.captures.writing.masking import Masking
from barnabas.proxy.connection.breakpoints import HaltedMessage
from barnabas.proxy.matching.field_paths import fields_in
from barnabas.specs import api, records
from barnabas.specs.jsonform import base64_text, to_json
from barnabas.specs.layout import Layout
from barnabas.specs.malformed import Malformed

SHOWN: Final = 1 << 20
"""The most bytes of a body that are shown; a longer one can still be decided on."""

RECORDS: Final = 200
"""The most records of a record set that are shown; all keys, values and headers have at most SHOWN bytes."""

MAX_OUTPUT: Final = 4 << 20
"""The most bytes of a batch after decompression; of a larger one no records are shown."""


def shown(message: HaltedMessage, masking: Masking) -> dict[str, Any]:
    """Return the body of a waiting message in JSON form.

    `body` and `hex` are null if the body is long or unreadable; `problem` is the reason. `types` has the
    field types by path without indexes; `records` has the first records of each record set by path, as far as
    they are readable and not long. `masked`: some payload is hidden, so that `hex` differs from the waiting
    bytes.
    """
    body = masking.body(message.body, message.direction, message.key, message.version).data
    shown_body: dict[str, Any] = {
        "body": None,
        "types": {},
        "records": {},
        "problem": "",
        "hex": None,
        "masked": body != message.body,
    }
    if len(body) > SHOWN:
        return shown_body | {"problem": f"it has {len(body):,} bytes, more than are shown"}
    shown_body["hex"] = body.hex()
    try:
        version = body_version(message.key, message.version, message.direction, body)
        codec = api(message.key).message(message.direction).codec(version)
        values = codec.decode(body)
    except (LookupError, Malformed) as problem:
        return shown_body | {"problem": shorten(str(problem), 200)}
    shown_values = {"body": to_json(values), "types": types_of(codec.layout)}
    return shown_body | shown_values | {"records": records_in(values, codec.layout)}


def types_of(layout: Layout) -> dict[str, str]:
    """Return the types of a body's fields, by path without indexes."""
    return dict(_types(layout, ""))


def records_in(values: dict[str, Any], layout: Layout) -> dict[str, list[dict[str, Any]]]:
    """Return the records of a decoded body's record sets, by path: see `shown`."""
    sets: dict[str, list[dict[str, Any]]] = {}
    room = SHOWN
    for path, holder, key, node in fields_in(values, layout):
        if node.kind != "records" or not holder[key]:
            continue
        sets[path] = []
        for record in _records(holder[key]):
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


def _records(data: bytes) -> Iterator[records.Record]:
    """Yield the records up to the first unreadable one; `hex` has all bytes anyway."""
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
