"""Bodies that are legal, small, and take many times their bytes when they are decoded."""

from __future__ import annotations

TOO_MANY = 300_000
"""Topics of a body of a MiB that is above the budget (`barnabas.specs.codec.budget`)."""


def reassignments(topics: int = TOO_MANY, *, behind: bytes = b"\0") -> bytes:
    """An AlterPartitionReassignments request: each of its topics has three bytes, an empty name, no
    partitions, no tags, and makes a dict, a string and a list."""
    return bytes(4) + _uvarint(topics + 1) + b"\1\1\0" * topics + behind


def _uvarint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])
