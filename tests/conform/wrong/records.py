"""Wrong answers of the checks of records."""

from __future__ import annotations

from typing import Final

from barnabas.specs.records import Record
from tests.conform.recordings import Wrong
from tests.conform.wrong.changes import fetched, rebuilt, records


def _without_headers(found: list[Record]) -> list[Record]:
    return [record._replace(headers=()) for record in found]


def _null_as_empty(found: list[Record]) -> list[Record]:
    return [record._replace(value=record.value or b"") for record in found]


def _shortened(found: list[Record]) -> list[Record]:
    return [record._replace(value=(record.value or b"")[:-1]) for record in found]


def _one_time(found: list[Record]) -> list[Record]:
    return [record._replace(timestamp=found[0].timestamp) for record in found]


def _other_offset(data: bytes) -> bytes:
    return b"\0\0\0\0\0\0\0\1" + data[8:]


def _other_checksum(data: bytes) -> bytes:
    return data[:17] + b"\1\2\3\4" + data[21:]


_SHORTENED: Final = rebuilt(_shortened)

WRONG: Final[dict[str, Wrong]] = {
    "records/headers": rebuilt(_without_headers),
    "records/many-headers": rebuilt(_without_headers),
    "records/null-and-empty": rebuilt(_null_as_empty),
    "records/all-bytes": _SHORTENED,
    "records/timestamps": rebuilt(_one_time),
    "records/offsets-contiguous": records(0, _other_offset),
    "records/bytes-unchanged": rebuilt(lambda found: found),
    "records/checksum": records(1, _other_checksum),
    "records/thousand": rebuilt(lambda found: found[:-1]),
    "records/large-value": _SHORTENED,
    "records/thousand-gzip": _SHORTENED,
    "records/thousand-snappy": _SHORTENED,
    "records/thousand-lz4": _SHORTENED,
    "records/thousand-zstd": _SHORTENED,
    "records/lz4-block-checksum": _SHORTENED,
    "records/zstd-without-size": _SHORTENED,
    "records/snappy-raw": _SHORTENED,
    "records/reserved-attributes": _SHORTENED,
    "records/magic-zero": fetched(0, records=b""),
    "records/magic-one": fetched(0, records=b""),
}
"""Check -> a response with a violation."""
