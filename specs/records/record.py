"""A record of a batch of any magic, and the number encodings in records of magic 2."""

from __future__ import annotations

from typing import NamedTuple

from barnabas.specs.malformed import Malformed

Header = tuple[str, bytes | None]
"""A record header: its key, and its value or None."""


class Record(NamedTuple):
    """A record of any magic. Its timestamp is in milliseconds, or -1; its sequence number may be -1.

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
    """Return a sum as Kafka's 64-bit arithmetic computes it, with overflow.

    >>> int64(2**63)
    -9223372036854775808
    """
    return (value + (1 << 63) & (1 << 64) - 1) - (1 << 63)


def add_sequence(sequence: int, delta: int) -> int:
    """Return a later sequence number: 0 follows 2,147,483,647, and a negative number stays -1 (KIP-98).

    >>> add_sequence(2**31 - 1, 3), add_sequence(-1, 3)
    (2, -1)
    """
    return -1 if sequence < 0 else sequence + delta & 0x7FFFFFFF


def varint(data: bytes, at: int, field: str, bits: int = 32) -> tuple[int, int]:
    r"""Return a zigzag varint of at most 5 bytes (10 if bits is 64), and the next offset.

    As in Kafka's ByteUtils, bits beyond the width are dropped, and overlong forms are valid.

    Raises:
        Malformed: The bytes end, or the last allowed byte has a continuation bit. The path is `field`.

    >>> varint(b"\x03", 0, "length"), varint(b"\x80\x01", 0, "length")
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
