"""Which partition a key belongs to, as the partitioners of 0.8 had it: Java's hash code of the key.

Sources: kafka.producer.DefaultPartitioner and ByteArrayPartitioner, kafka.utils.Utils.abs of 0.8.2;
String.hashCode and Arrays.hashCode(byte[]).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Partitioner = Callable[[Any, int], int]
"""Key, number of partitions -> partition. It runs in the client's thread."""


def by_hash(key: Any, partitions: int) -> int:
    """The partition of a str or of bytes. Raises TypeError for other keys.

    >>> by_hash("hello", 1 << 31), by_hash(b"a", 1 << 31)
    (99162322, 128)
    """
    if isinstance(key, str):
        data = key.encode("utf-16-be")
        code = _hash(0, (int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)))
    elif isinstance(key, bytes):
        code = _hash(1, (byte - 256 if byte > 127 else byte for byte in key))
    else:
        raise TypeError(
            f"a key of type {type(key).__name__}: give the producer its own partitioner"
        )
    return (code & 0x7FFFFFFF) % partitions


def _hash(code: int, parts: Iterable[int]) -> int:
    for part in parts:
        code = (31 * code + part) & 0xFFFFFFFF
    return code
