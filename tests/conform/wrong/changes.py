"""Changes of recorded responses that several areas use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from barnabas.conform.expectations import CODES
from barnabas.specs.records import Record, build, read
from tests.conform.recordings import Wrong, with_body

_ARRAYS: Final = ("responses", "topics", "partition_responses", "partitions")


def rows(body: Any) -> Iterable[Any]:
    """Return the parts of a body that have a partition's error code."""
    inner = [item for name in _ARRAYS for item in body.get(name) or ()]
    return [part for item in inner for part in rows(item)] if inner else [body]


def row(api: str, nth: int, at: int, **fields: Any) -> Wrong:
    """Change fields of a partition in the nth response to an API; `at` counts partitions in it."""

    def edit(body: Any) -> None:
        list(rows(body))[at].update(_with_codes(fields))

    return with_body(api, nth, edit)


def every(api: str, **fields: Any) -> Wrong:
    """Change fields of all partitions in all responses to an API, where they are."""
    changes = _with_codes(fields)

    def edit(body: Any) -> None:
        for part in rows(body):
            part.update({name: value for name, value in changes.items() if name in part})

    return with_body(api, None, edit)


def _with_codes(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: CODES[value] if name == "error_code" else value for name, value in fields.items()}


def produced(nth: int, **fields: Any) -> Wrong:
    """Change the partition in the nth response to Produce."""
    return row("Produce", nth, 0, **fields)


def fetched(nth: int, **fields: Any) -> Wrong:
    """Change the partition in the nth response to Fetch."""
    return row("Fetch", nth, 0, **fields)


def records(nth: int, change: Callable[[bytes], bytes]) -> Wrong:
    """Change the records of the first partition in the nth response to Fetch."""

    def edit(body: Any) -> None:
        part = next(iter(rows(body)))
        part["records"] = change(bytes(part["records"]))

    return with_body("Fetch", nth, edit)


def rebuilt(change: Callable[[list[Record]], Iterable[Record]], nth: int = 0) -> Wrong:
    """Change the records of a fetched batch, and store them uncompressed."""
    return records(nth, lambda data: build(list(change(records_in(data)))))


def records_in(data: bytes) -> list[Record]:
    """Return the records of some batches."""
    return [record for batch in read(data) for record in batch.records()]


def shifted(api: str, nth: int, seconds: float) -> Wrong:
    """Let the nth response to an API come some seconds later, or earlier."""
    return Wrong(api, nth, lambda frame, version: frame, delay_s=seconds)
