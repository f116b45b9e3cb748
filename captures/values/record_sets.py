"""Format the records in a decoded body."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from barnabas.captures.values.record import record_form
from barnabas.captures.values.value import Values
from barnabas.specs import records
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import Blob, base64_text
from barnabas.specs.keys import FETCH, PRODUCE, SHARE_FETCH
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Record

RECORDS: Final = 100
"""Records of a body that are shown."""

BYTES: Final = 1 << 20
"""Bytes of keys, values and headers of a body that are shown."""

MAX_OUTPUT: Final = 16 << 20
"""Bytes of a batch after decompression at most."""

CARRIERS: Final[dict[int, Direction]] = {
    PRODUCE: "request",
    FETCH: "response",
    SHARE_FETCH: "response",
}
"""By API key: the direction that carries application records."""


def has_records(key: int, direction: Direction) -> bool:
    """Return whether messages of an API carry application records.

    >>> has_records(0, "request"), has_records(0, "response")
    (True, False)
    """
    return CARRIERS.get(key) == direction


def decoded(body: Any, values: Values, blob: Blob = base64_text) -> dict[str, Any]:
    """Return the records of a body by path: {"records": [...], "left_off": n}, with "unread" for damage.

    Records are formatted by `record_form`, at most RECORDS and BYTES of a body. `left_off` counts the others;
    None: unknown. Control records are left out, since they are Kafka's own.

    >>> from barnabas.specs.records import build
    >>> decoded({"records": build([Record(0, 1, None, b"v")])}, Values())["records"]["records"][0]["value"]
    'v'
    """
    by_path: dict[str, Any] = {}
    count, size = RECORDS, BYTES
    for path, data in record_sets(body):
        records_shown: list[dict[str, Any]] = []
        left_off: int | None = 0
        error: dict[str, Any] = {}
        try:
            for batch in _of_applications(data):
                before = len(records_shown)
                for record in islice(batch, count):
                    size -= size_of(record)
                    if size < 0:
                        count = 0
                        break
                    count -= 1
                    records_shown.append(record_form(record, values, blob))
                if left_off is not None:
                    more = batch.count
                    left_off = (
                        None if more is None else left_off + more - (len(records_shown) - before)
                    )
        except Malformed as problem:
            error = {"unread": str(problem)}
        if records_shown or left_off != 0 or error:
            by_path[path] = {"records": records_shown, "left_off": left_off, **error}
    return by_path


def record_sets(value: Any, path: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield the path and the bytes of each record set."""
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from record_sets(inner, f"{path}[{index}]")
    elif isinstance(value, dict):
        for name, inner in value.items():
            to = f"{path}.{name}" if path else str(name)
            if name == "records" and isinstance(inner, bytes):
                yield to, inner
            elif isinstance(inner, dict | list):
                yield from record_sets(inner, to)


def records_of(body: Any, max_output: int = MAX_OUTPUT) -> Iterator[Record]:
    """Yield the application records of a decoded body. Raises Malformed where they are undecodable."""
    for _, data in record_sets(body):
        for batch in _of_applications(data, max_output):
            yield from batch


def _of_applications(data: bytes, max_output: int = MAX_OUTPUT) -> Iterator[records.Batch]:
    return (batch for batch in records.read(data, max_output=max_output) if not batch.is_control)


def size_of(record: Record) -> int:
    """Return the bytes of a record's key, value and headers."""
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
