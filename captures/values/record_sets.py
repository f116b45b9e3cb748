"""The records of a decoded body, decoded in their turn."""

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
"""Bytes that one batch may take decompressed."""

CARRIERS: Final[dict[int, Direction]] = {
    PRODUCE: "request",
    FETCH: "response",
    SHARE_FETCH: "response",
}
"""By API key: the message that carries records of applications."""


def has_records(key: int, direction: Direction) -> bool:
    """Whether messages of an API carry records of applications.

    >>> has_records(0, "request"), has_records(0, "response")
    (True, False)
    """
    return CARRIERS.get(key) == direction


def decoded(body: Any, values: Values, blob: Blob = base64_text) -> dict[str, Any]:
    """By the path of each record set that has some: {"records": [...], "left_off": n}, and "unread", where it
    can't be read to its end. The records are as `record_form` has them, RECORDS and BYTES of a body at most;
    n is None if nobody knows. Control records are Kafka's own: they are none of these.

    >>> from barnabas.specs.records import build
    >>> decoded({"records": build([Record(0, 1, None, b"v")])}, Values())["records"]["records"][0]["value"]
    'v'
    """
    found: dict[str, Any] = {}
    count, size = RECORDS, BYTES
    for path, data in record_sets(body):
        shown: list[dict[str, Any]] = []
        left_off: int | None = 0
        about: dict[str, Any] = {}
        try:
            for batch in _of_applications(data):
                before = len(shown)
                for record in islice(batch, count):
                    size -= size_of(record)
                    if size < 0:
                        count = 0
                        break
                    count -= 1
                    shown.append(record_form(record, values, blob))
                if left_off is not None:
                    more = batch.count
                    left_off = None if more is None else left_off + more - (len(shown) - before)
        except Malformed as problem:
            about = {"unread": str(problem)}
        if shown or left_off != 0 or about:
            found[path] = {"records": shown, "left_off": left_off, **about}
    return found


def record_sets(value: Any, path: str = "") -> Iterator[tuple[str, bytes]]:
    """The paths of record sets, and their bytes."""
    if isinstance(value, list):
        for place, inner in enumerate(value):
            yield from record_sets(inner, f"{path}[{place}]")
    elif isinstance(value, dict):
        for name, inner in value.items():
            to = f"{path}.{name}" if path else str(name)
            if name == "records" and isinstance(inner, bytes):
                yield to, inner
            elif isinstance(inner, dict | list):
                yield from record_sets(inner, to)


def records_of(body: Any, max_output: int = MAX_OUTPUT) -> Iterator[Record]:
    """The applications' records of a decoded body. Raises Malformed where they can't be read."""
    for _, data in record_sets(body):
        for batch in _of_applications(data, max_output):
            yield from batch


def _of_applications(data: bytes, max_output: int = MAX_OUTPUT) -> Iterator[records.Batch]:
    return (one for one in records.read(data, max_output=max_output) if not one.is_control)


def size_of(record: Record) -> int:
    """Bytes of its key, value and headers."""
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
