"""A record, and the layout of records in a magic 2 batch (KIP-98; Kafka's DefaultRecord).

Length, attributes (int8), timestamp delta, offset delta, key, value, headers; lengths, counts and
deltas are zigzag varints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from barnabas.specs.malformed import Malformed

Header = tuple[str, bytes | None]
"""A record header: its key, and its value or None."""

SMALLEST_RECORD = 7
"""Bytes of a record without key, value and headers."""

SMALLEST_HEADER = 2
"""Bytes of a header with an empty key and no value."""

_NULL: Final = 1  # the varint of a length of -1
_SECOND: Final = tuple((byte << 7) - 0x80 for byte in range(0x80))  # what a second byte adds
_FAR: Final = 1 << 62  # a base nearer than this to 0 can take any delta


_TWO_BYTES = 16383
_LEAST, _MOST = -(2**63), 2**63 - 1
_new = tuple.__new__  # a third of the time that Record(...) takes


class Record(NamedTuple):
    """A record of any magic; its timestamp in milliseconds, or -1; its sequence number, or -1.

    >>> Record(offset=7, timestamp=-1, key=None, value=b"v").headers
    ()
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    sequence: int = -1


def int64(value: int) -> int:
    """A sum as Kafka's 64-bit arithmetic has it, which wraps around.

    >>> int64(2**63)
    -9223372036854775808
    """
    return (value + (1 << 63) & (1 << 64) - 1) - (1 << 63)


def add_sequence(sequence: int, delta: int) -> int:
    """A sequence number further on; behind 2,147,483,647 comes 0, and below 0 is none, -1 (KIP-98).

    >>> add_sequence(2**31 - 1, 3), add_sequence(-1, 3)
    (2, -1)
    """
    return -1 if sequence < 0 else sequence + delta & 0x7FFFFFFF


def read_records(
    data: bytes,
    count: int,
    *,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None = None,
    base_sequence: int = -1,
    path: str = "",
    origin: int = 0,
) -> Iterator[Record]:
    """The records of a magic 2 batch, decompressed; `append_time` stands in for every timestamp.

    Raises Malformed if there are fewer or more records than `count`, or one does not fill its
    length; offsets count from `origin`, which is where data begins.

    >>> one = b"\\x0e\\0\\x04\\x02\\x01\\x02v\\0"
    >>> list(read_records(one, 1, base_offset=10, base_timestamp=500))
    [Record(offset=11, timestamp=502, key=None, value=b'v', headers=(), sequence=-1)]
    """
    if not 0 <= count <= len(data) // SMALLEST_RECORD:
        raise Malformed(
            f"{path}records", origin, f"{count} records announced, {len(data)} bytes remain"
        )
    position = 0
    # The first branch reads what is usual: varints of one byte or two, nothing below zero but the
    # length of null, and sums that do not wrap around. It raises IndexError at anything else, which
    # is then read with care. Positions only grow, so the end is compared once.
    new = tuple.__new__  # a NamedTuple's own takes twice as long
    second = _SECOND
    sequence = -1
    total = len(data)
    unusual = not -_FAR < base_offset < _FAR or not -_FAR < base_timestamp < _FAR
    for index in range(count):
        try:
            at = position
            size = data[at]
            if size > 0x7F:
                at += 1
                size += second[data[at]]
            end = at + 1 + (size >> 1)
            at += 2  # the attributes say nothing
            timestamp_delta = data[at]
            if timestamp_delta > 0x7F:
                at += 1
                timestamp_delta += second[data[at]]
            at += 1
            offset_delta = data[at]
            if offset_delta > 0x7F:
                at += 1
                offset_delta += second[data[at]]
            at += 1
            odd = unusual | size | timestamp_delta | offset_delta
            size = data[at]
            if size == _NULL:
                at += 1
                key = None
            else:
                if size > 0x7F:
                    at += 1
                    size += second[data[at]]
                odd |= size
                at += 1
                key = data[at : at + (size >> 1)]
                at += size >> 1
            size = data[at]
            if size == _NULL:
                at += 1
                value = None
            else:
                if size > 0x7F:
                    at += 1
                    size += second[data[at]]
                odd |= size
                at += 1
                value = data[at : at + (size >> 1)]
                at += size >> 1
            if data[at]:
                headers, at = _usual_headers(data, at)
            else:
                headers = ()
                at += 1
            if odd & 1 or at != end or end > total:
                raise IndexError
            position = end
            offset = base_offset + (offset_delta >> 1)
            timestamp = base_timestamp + (timestamp_delta >> 1)
            if base_sequence >= 0:
                sequence = base_sequence + (offset_delta >> 1) & 0x7FFFFFFF
        except IndexError:
            try:
                timestamp_delta, offset_delta, key, value, headers, position = _record(
                    data, position
                )
            except Malformed as e:
                where = f"{path}records[{index}].{e.path}"
                raise Malformed(where, origin + e.offset, e.reason) from None
            offset = int64(base_offset + offset_delta)
            timestamp = int64(base_timestamp + timestamp_delta)
            sequence = add_sequence(base_sequence, offset_delta)
        if append_time is not None:
            timestamp = append_time
        yield new(Record, (offset, timestamp, key, value, headers, sequence))
    if position != len(data):
        left = len(data) - position
        raise Malformed(
            f"{path}records", origin + position, f"{left} bytes behind the last of {count} records"
        )


def _usual_headers(data: bytes, at: int) -> tuple[tuple[Header, ...], int]:
    """Headers whose count and keys' lengths take one byte, and values' two; else an IndexError."""
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


def varint(data: bytes, at: int, field: str, bits: int = 32) -> tuple[int, int]:
    """A zigzag varint of at most 5 bytes (10 if bits is 64), and the position behind it.

    Bits beyond the width are dropped and overlong forms are fine, as in Kafka's ByteUtils. Raises
    Malformed, with `field` as path, if the bytes end or the last one allowed promises more.

    >>> varint(b"\\x03", 0, "length"), varint(b"\\x80\\x01", 0, "length")
    ((-2, 1), (64, 2))
    """
    try:
        byte = data[at]
        if byte < 0x80:
            return byte >> 1 ^ -(byte & 1), at + 1
        value = byte & 0x7F
        for shift in range(7, bits, 7):
            at += 1
            byte = data[at]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                value &= (1 << bits) - 1
                return value >> 1 ^ -(value & 1), at + 1
    except IndexError:
        raise Malformed(field, at, "a varint, where the bytes end") from None
    raise Malformed(field, at, f"a varint of {bits} bits that does not end")
