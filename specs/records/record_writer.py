"""Records as they stand in a magic 2 batch, written (KIP-98; Kafka's DefaultRecord)."""

from __future__ import annotations

from collections.abc import Iterable

from specs.codec.build import Unfit
from specs.records.record import Header, Record

_SHORT = tuple(bytes((number,)) for number in range(128))


def write_records(records: Iterable[Record], base_offset: int, base_timestamp: int) -> bytes:
    """The bytes of records, not compressed. Raises Unfit with the path.

    >>> write_records([Record(11, 502, None, b"v")], 10, 500).hex(" ")
    '0e 00 04 02 01 02 76 00'
    """
    out: list[bytes] = []
    index = 0
    try:
        for index, (offset, timestamp, key, value, headers, _) in enumerate(records):
            delta = offset - base_offset
            if not -(2**31) <= delta < 2**31:
                raise Unfit(f"records[{index}].offset", f"{offset} is too far from {base_offset}")
            body = b"".join(
                (
                    b"\0",
                    signed_varint(timestamp - base_timestamp),
                    signed_varint(delta),
                    b"\x01" if key is None else signed_varint(len(key)) + key,
                    b"\x01" if value is None else signed_varint(len(value)) + value,
                    _headers(headers) if headers else b"\0",
                )
            )
            out += (signed_varint(len(body)), body)
    except Unfit:
        raise
    except (TypeError, ValueError, AttributeError) as problem:
        raise Unfit(f"records[{index}]", str(problem)) from None
    return b"".join(out)


def _headers(headers: tuple[Header, ...]) -> bytes:
    out = [signed_varint(len(headers))]
    for name, value in headers:
        raw = name.encode()
        out += (signed_varint(len(raw)), raw)
        out.append(b"\x01" if value is None else signed_varint(len(value)) + value)
    return b"".join(out)


def signed_varint(value: int) -> bytes:
    """A zigzag varint of up to 64 bits, in its shortest form. Raises ValueError beyond them.

    >>> signed_varint(-2).hex(), signed_varint(64).hex()
    ('03', '8001')
    """
    number = value << 1 if value >= 0 else -value * 2 - 1
    if number < 128:
        return _SHORT[number]
    if number < 16384:
        return bytes((number & 127 | 128, number >> 7))
    if number >> 64:
        raise ValueError(f"{value} does not fit in 64 bits")
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)
