"""Writes the records of a magic 2 batch (KIP-98; Kafka's DefaultRecord)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.specs.codec.careful_encoder import Unfit, uvarint
from barnabas.specs.records.record import Header, Record, int64
from barnabas.specs.records.validation import fit_record


def signed_varint(value: int) -> bytes:
    """Return a zigzag varint in its shortest form, as wide as the value needs.

    >>> signed_varint(-2).hex(), signed_varint(64).hex()
    ('03', '8001')
    """
    return uvarint(value << 1 if value >= 0 else ~(value << 1))


_NULL: Final = signed_varint(-1)
_SHORT: Final = tuple(map(signed_varint, range(0x2000)))  # all that take a byte or two
_FAR: Final = 1 << 62  # a base nearer than this to 0 takes any short delta without wrapping around


def write_records(records: Sequence[Record], base_offset: int, base_timestamp: int) -> bytes:
    """Return the bytes of records, uncompressed; their deltas count from the bases, both int64.

    Sequence numbers are ignored, as they follow from the batch's.

    Raises:
        Unfit: A record can't hold a value, or an offset is more than 32 bits away from the base. The path is
            e.g. `records[3].key`.

    >>> write_records([Record(11, 502, None, b"v")], 10, 500).hex(" ")
    '0e 00 04 02 01 02 76 00'
    """
    try:
        return _write(records, base_offset, base_timestamp)
    except (TypeError, ValueError, AttributeError):
        # A value is invalid, or valid but unusual, such as a bytearray: check each value.
        fit = [fit_record(record, f"records[{index}]") for index, record in enumerate(records)]
        for index, record in enumerate(fit):
            try:
                _delta(record.offset, base_offset, 32)
            except ValueError as problem:
                raise Unfit(f"records[{index}].offset", str(problem)) from None
        return _write(fit, base_offset, base_timestamp)


def _write(records: Sequence[Record], base_offset: int, base_timestamp: int) -> bytes:
    """Return the records' bytes, or raise an error without a path."""
    short = _SHORT
    short_count = len(short)
    near = short_count if -_FAR < base_offset < _FAR and -_FAR < base_timestamp < _FAR else 0
    join = b"".join
    out: list[bytes] = []
    for offset, timestamp, key, value, headers, _ in records:
        delta = timestamp - base_timestamp
        time = short[delta] if 0 <= delta < near else _delta(timestamp, base_timestamp, 64)
        delta = offset - base_offset
        offset_bytes = short[delta] if 0 <= delta < near else _delta(offset, base_offset, 32)
        if key is None:
            key = b""
            key_size = _NULL
        elif type(key) is bytes:
            size = len(key)
            key_size = short[size] if size < short_count else signed_varint(size)
        else:
            raise TypeError("key")
        if value is None:
            value = b""
            value_size = _NULL
        elif type(value) is bytes:
            size = len(value)
            value_size = short[size] if size < short_count else signed_varint(size)
        else:
            raise TypeError("value")
        rest = _headers(headers) if headers else b"\0"
        body = join((b"\0", time, offset_bytes, key_size, key, value_size, value, rest))
        size = len(body)
        out += (short[size] if size < short_count else signed_varint(size), body)
    return join(out)


def _headers(headers: Sequence[Header]) -> bytes:
    short = _SHORT
    short_count = len(short)
    out = [signed_varint(len(headers))]
    for key, value in headers:
        name = key.encode()
        size = len(name)
        out += (short[size] if size < short_count else signed_varint(size), name)
        if value is None:
            out.append(_NULL)
        elif type(value) is bytes:
            size = len(value)
            out += (short[size] if size < short_count else signed_varint(size), value)
        else:
            raise TypeError("headers")
    return b"".join(out)


def _delta(value: int, base: int, bits: int) -> bytes:
    """Return a difference, which overflows at 64 bits as in Java. Raises ValueError."""
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"{value} is not a valid int64")
    delta = int64(value - base)
    if not -(1 << bits - 1) <= delta < 1 << bits - 1:
        raise ValueError(f"{value} is too far from {base}, the batch's")
    return signed_varint(delta)
