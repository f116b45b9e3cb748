"""Reads the records of a magic 2 batch (KIP-98; Kafka's DefaultRecord).

Length, attributes (int8), timestamp delta, offset delta, key, value, headers; lengths, counts and deltas are
zigzag varints.

As in `barnabas.specs.codec`, generated source reads regular records: varints of one or two bytes, no negative
number but the length of null, and sums without overflow. For all others it raises IndexError, and `_careful`
reads the record. Positions only grow, so the end is compared once for each record.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from barnabas.specs.codec.codegen import Source
from barnabas.specs.malformed import Malformed
from barnabas.specs.records.record import Header, Record, add_sequence, int64, varint

SMALLEST_RECORD: Final = 7
"""Bytes of a record without key, value and headers."""

SMALLEST_HEADER: Final = 2
"""Bytes of a header with an empty key and no value."""

_NULL: Final = 1  # the varint of a length of -1
_SECOND: Final = tuple((byte << 7) - 0x80 for byte in range(0x80))  # what a second byte adds
_FAR: Final = 1 << 62  # a base nearer than this to 0 can take any delta


class _Bases(NamedTuple):
    """The values that the deltas of a record count from; `append_time` replaces every timestamp."""

    offset: int
    timestamp: int
    sequence: int
    append_time: int | None


Reader = Callable[..., Iterator[Record]]
"""(data, count, base_offset, base_timestamp, base_sequence, append_time, path, origin) -> the records.

Data is decompressed. `append_time` replaces every timestamp in batches with the broker's time. Raises
Malformed if there are not `count` records, or if one does not fill its length: the path begins with `path`,
and the offset counts from `origin`, the position of data."""


@functools.cache
def record_reader(sequenced: bool = False, appended: bool = False) -> Reader:
    r"""Return a reader for batches with a sequence (`sequenced`) or the broker's time (`appended`).

    >>> one = b"\x0e\0\x04\x02\x01\x02v\0"
    >>> list(record_reader()(one, 1, base_offset=10, base_timestamp=500))
    [Record(offset=11, timestamp=502, key=None, value=b'v', headers=(), sequence=-1)]
    """
    source = Source(
        second=_SECOND,
        new=tuple.__new__,  # a NamedTuple's own takes three times as long
        Record=Record,
        usual_headers=_usual_headers,
        bases=_Bases,
        careful=_careful,
        malformed=Malformed,
    )
    emit, block = source.emit, source.block
    near = " and ".join(f"-{_FAR} < {base} < {_FAR}" for base in ("base_offset", "base_timestamp"))
    emit(f"unusual = not ({near})")
    emit("n = len(b)")
    with block(f"if not 0 <= count <= n // {SMALLEST_RECORD}:"):
        emit("reason = f'{count} records announced, {n} bytes remain'")
        emit("raise malformed(path + 'records', origin, reason)")
    emit("start = 0")
    with block("for index in range(count):"):
        with block("try:"):
            emit("p = start")
            _emit_varint(source, "size")
            emit("end = p + 1 + (size >> 1)")
            emit("p += 2  # the attributes say nothing")
            _emit_varint(source, "timestamp_delta")
            emit("p += 1")
            _emit_varint(source, "offset_delta")
            emit("p += 1")
            emit("odd = unusual | size | timestamp_delta | offset_delta")
            _emit_nullable(source, "key")
            _emit_nullable(source, "value")
            with block("if b[p]:"):
                emit("headers, p = usual_headers(b, p)")
            with block("else:"):
                emit("headers = ()")
                emit("p += 1")
            emit("if odd & 1 or p != end or end > n: raise IndexError")
            timestamp = "append_time" if appended else "base_timestamp + (timestamp_delta >> 1)"
            sequence = "base_sequence + (offset_delta >> 1) & 0x7FFFFFFF" if sequenced else "-1"
            offset = "base_offset + (offset_delta >> 1)"
            emit(f"record = {offset}, {timestamp}, key, value, headers, {sequence}")
            emit("start = p")
        with block("except IndexError:"):
            append_time = "append_time" if appended else "None"
            bases = f"bases(base_offset, base_timestamp, base_sequence, {append_time})"
            location = "path + f'records[{index}].', origin"
            emit(f"record, start = careful(b, start, {bases}, {location})")
        emit("yield new(Record, record)")
    with block("if start != n:"):
        emit("reason = f'{n - start} bytes after the last of {count} records'")
        emit("raise malformed(path + 'records', origin + start, reason)")
    kinds = f"{' with sequence' * sequenced}{' with append time' * appended}"
    parameters = (
        "base_offset, base_timestamp, base_sequence=-1, append_time=None, path='', origin=0"
    )
    return source.compile(f"read(b, count, {parameters}):", f"records{kinds}")


def _emit_varint(source: Source, name: str) -> None:
    """Emit the reading of a varint of one or two bytes, up to its last byte."""
    source.emit(f"{name} = b[p]")
    with source.block(f"if {name} > 127:"):
        source.emit("p += 1")
        source.emit(f"{name} += second[b[p]]")


def _emit_nullable(source: Source, name: str) -> None:
    """Emit the reading of a length and bytes."""
    emit, block = source.emit, source.block
    _emit_varint(source, "size")
    emit("p += 1")
    with block(f"if size == {_NULL}:"):
        emit(f"{name} = None")
    with block("else:"):
        emit("odd |= size")
        emit(f"{name} = b[p : p + (size >> 1)]")
        emit("p += size >> 1")


def _usual_headers(data: bytes, at: int) -> tuple[tuple[Header, ...], int]:
    """Read headers whose count and key lengths take one byte, and value lengths two. Raises IndexError."""
    headers: list[Header] = []
    count = data[at]
    at += 1
    odd = count & 0x81  # a second byte, or below zero
    for _ in range(count >> 1):
        size = data[at]
        odd |= size & 0x81
        at += 1
        key = data[at : at + (size >> 1)].decode("utf-8", "replace")
        at += size >> 1
        size = data[at]
        at += 1
        if size == _NULL:
            headers.append((key, None))
            continue
        if size > 0x7F:
            size += _SECOND[data[at]]
            at += 1
        odd |= size & 1
        headers.append((key, data[at : at + (size >> 1)]))
        at += size >> 1
    if odd:
        raise IndexError
    return tuple(headers), at


def _careful(
    data: bytes, start: int, bases: _Bases, path: str, origin: int
) -> tuple[tuple[Any, ...], int]:
    """Return the fields of a record, and its end. Raises Malformed."""
    try:
        timestamp_delta, offset_delta, key, value, headers, end = _record(data, start)
    except Malformed as e:
        raise Malformed(path + e.path, origin + e.offset, e.reason) from None
    offset = int64(bases.offset + offset_delta)
    timestamp = bases.append_time
    if timestamp is None:
        timestamp = int64(bases.timestamp + timestamp_delta)
    sequence = add_sequence(bases.sequence, offset_delta)
    return (offset, timestamp, key, value, headers, sequence), end


def _record(
    data: bytes, start: int
) -> tuple[int, int, bytes | None, bytes | None, tuple[Header, ...], int]:
    size, position = varint(data, start, "length")
    end = position + size
    if not position <= end <= len(data):
        raise Malformed("length", start, f"{size} bytes announced, {len(data) - position} remain")
    timestamp_delta, position = varint(data, position + 1, "timestamp_delta", bits=64)
    offset_delta, position = varint(data, position, "offset_delta")
    key, position = _nullable(data, position, end, "key")
    value, position = _nullable(data, position, end, "value")
    headers, position = _headers(data, position, end)
    if position != end:
        reason = f"{size} bytes announced, its fields take {position - end + size}"
        raise Malformed("length", start, reason)
    return timestamp_delta, offset_delta, key, value, headers, position


def _headers(data: bytes, position: int, end: int) -> tuple[tuple[Header, ...], int]:
    count, position = varint(data, position, "headers")
    if count == 0:
        return (), position
    if not 0 <= count <= (end - position) // SMALLEST_HEADER:
        remain = max(end - position, 0)
        raise Malformed("headers", position, f"{count} announced, {remain} bytes remain")
    headers = []
    for index in range(count):
        at = position
        key, position = _nullable(data, position, end, f"headers[{index}].key")
        if key is None:
            raise Malformed(f"headers[{index}].key", at, "a length below zero")
        value, position = _nullable(data, position, end, f"headers[{index}].value")
        headers.append((key.decode("utf-8", "replace"), value))
    return tuple(headers), position


def _nullable(data: bytes, at: int, end: int, field: str) -> tuple[bytes | None, int]:
    size, position = varint(data, at, field)
    if size < 0:  # Kafka writes -1 for null, and reads anything below zero as null
        return None, position
    if position + size > end:
        remain = max(end - position, 0)
        raise Malformed(field, at, f"{size} bytes announced, {remain} remain")
    return data[position : position + size], position + size
