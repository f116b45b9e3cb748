"""The offsets of application data in a batch: keys, values, headers.

Layouts: KIP-98 (magic 2), and the message sets of magic 0 and 1. Nothing is decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.specs.malformed import Malformed
from barnabas.specs.records.batch import OVERHEAD, Batch
from barnabas.specs.records.record import varint

_KEY_BEGINS: Final = (18, 26)
"""The offset of the key's length in a message of magic 0 and 1."""


def payload(batch: Batch) -> list[tuple[int, int]]:
    """Return (start, end) of every key, value, header key and header value in `batch.data`, in order.

    Null and empty values have no bytes and are left out. A compressed batch has one span for all of its
    records, and so has a batch whose records can't be separated.

    >>> from barnabas.specs.records import Record, build, read
    >>> batch = next(read(build([Record(0, 0, b"key", b"value", (("h", b"x"),))])))
    >>> [bytes(batch.data[start:end]) for start, end in payload(batch)]
    [b'key', b'value', b'h', b'x']
    """
    data = bytes(batch.data)
    begin = OVERHEAD if batch.magic > 1 else _KEY_BEGINS[batch.magic]
    try:
        if batch.magic < 2:
            spans = _message(data, begin)
        elif batch.compression != "none":
            spans = [(begin, len(data))]
        else:
            spans = list(_records(data, begin, batch.count or 0))
    except (IndexError, Malformed):
        spans = [(begin, len(data))]
    return [(start, end) for start, end in spans if end > start]


def _message(data: bytes, at: int) -> list[tuple[int, int]]:
    """Return the spans of key and value of a message of magic 0 or 1.

    The value of a compressed message is a message set.
    """
    spans = []
    for _ in range(2):
        size = max(int.from_bytes(data[at : at + 4], "big", signed=True), 0)
        spans.append((at + 4, at + 4 + size))
        at += 4 + size
    _ends(data, at)
    return spans


def _records(data: bytes, at: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the fields of magic 2 records. Raises Malformed, IndexError."""
    for _ in range(count):
        size, at = _varint(data, at)
        end = at + size
        at += 1  # attributes
        for _ in range(2):  # deltas of timestamp and offset
            _, at = _varint(data, at)
        for _ in range(2):
            size, at = _varint(data, at)
            yield at, at + max(size, 0)
            at += max(size, 0)
        headers, at = _varint(data, at)
        for _ in range(2 * headers):
            size, at = _varint(data, at)
            yield at, at + max(size, 0)
            at += max(size, 0)
        if at != end:
            raise Malformed("size", at, f"the record ends at {end}")
    _ends(data, at)


def _ends(data: bytes, at: int) -> None:
    if at != len(data):
        raise Malformed("", at, f"{len(data)} bytes")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    return varint(data, at, "", bits=64)
