"""The draws of one case: a function of (seed, case number) and of nothing else.

`random.Random` takes longer to seed than a case may take to make; here a hash gives the bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, TypeVar

T = TypeVar("T")

_BITS: Final = 512


class Dice:
    """Numbers that look random: the same ones for the same seed (any text or bytes) and number.

    >>> [Dice("campaign", 7).below(100) for _ in range(2)]
    [46, 46]
    """

    __slots__ = ("_bits", "_left", "_next", "_root")

    def __init__(self, seed: str | bytes, number: int) -> None:
        root = seed.encode() if isinstance(seed, str) else seed
        self._root = root + number.to_bytes(8, "big", signed=True)
        self._next = 0
        self._bits = 0
        self._left = 0

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1; limit is at least 1 and at most 2^64."""
        # 16 bits more than needed, so that what a remainder prefers is out of sight
        width = limit.bit_length() + 16
        if self._left < width:
            digest = blake2b(self._root + self._next.to_bytes(4, "big")).digest()
            self._bits = int.from_bytes(digest, "big")
            self._left = _BITS
            self._next += 1
        value = self._bits & ((1 << width) - 1)
        self._bits >>= width
        self._left -= width
        return value % limit

    def between(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, one_in: int) -> bool:
        """True once in so many times."""
        return self.below(one_in) == 0

    def pick(self, things: Sequence[T]) -> T:
        """One of these; there is at least one."""
        return things[self.below(len(things))]

    def some_bytes(self, size: int) -> bytes:
        """So many bytes."""
        out = b""
        while len(out) < size:
            out += blake2b(self._root + self._next.to_bytes(4, "big")).digest()
            self._next += 1
        return out[:size]
