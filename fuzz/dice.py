"""The draws of one case: a function of (seed, case number) and of nothing else.

`random.Random` takes longer to seed than a case may take to make. Here a hash of the seed, kept, and the
number are mixed (SplitMix64's finisher: Steele, Lea and Flood 2014), and a linear congruential generator goes
on from there (Knuth's MMIX); of its 64 bits the upper ones are used.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, TypeVar

T = TypeVar("T")

_MASK: Final = (1 << 64) - 1
_FACTOR: Final = 6364136223846793005
_STEP: Final = 1442695040888963407
_FACTOR_OF_TWO: Final = _FACTOR * _FACTOR & _MASK
_STEP_OF_TWO: Final = (_FACTOR + 1) * _STEP & _MASK
"""Two steps of the generator as one."""
_SMALL: Final = 1 << 20
_LOWER: Final = (1 << 24) - 1
_UPPER: Final = (1 << 40) - 1
_BACK: Final = pow(_FACTOR, -1, 1 << 64)
"""Takes a step of the generator back."""
_GOLDEN: Final = 0x9E3779B97F
"""The golden ratio's fraction, in 40 bits: its multiples are spread evenly (Weyl's sequence)."""


@functools.lru_cache(maxsize=4096)
def _root(seed: str | bytes) -> int:
    data = seed.encode() if isinstance(seed, str) else seed
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def _mixed(seed: str | bytes, number: int) -> int:
    """The state that a generator begins with."""
    mixed = (_root(seed) + number * 0x9E3779B97F4A7C15) & _MASK
    mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _MASK
    return mixed ^ mixed >> 31


class Dice:
    """Numbers that look random: the same ones for the same seed (any text or bytes) and number.

    >>> [Dice("campaign", 7).below(100) for _ in range(2)]
    [70, 70]
    """

    __slots__ = ("_state",)

    def __init__(self, seed: str | bytes, number: int) -> None:
        self._state = _mixed(seed, number)

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1; limit is at least 1 and at most 2^64."""
        self._state = state = (self._state * _FACTOR + _STEP) & _MASK
        if limit <= _SMALL:
            return (state >> 24) * limit >> 40
        self._state = more = (state * _FACTOR + _STEP) & _MASK
        return (state >> 32 << 32 | more >> 32) % limit

    def bits(self) -> int:
        """24 bits: what `below(1 << 24)` is, sooner."""
        self._state = state = (self._state * _FACTOR_OF_TWO + _STEP_OF_TWO) & _MASK
        return state >> 32 & _LOWER

    def between(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, one_in: int) -> bool:
        """True once in so many times."""
        return self.below(one_in) == 0

    def pick(self, things: Sequence[T]) -> T:
        """One of these; there is at least one, and 2^20 at most."""
        self._state = state = (self._state * _FACTOR + _STEP) & _MASK  # as in `below`
        return things[(state >> 24) * len(things) >> 40]

    def some_bytes(self, size: int) -> bytes:
        """So many bytes."""
        blocks = [
            blake2b(self.below(1 << 64).to_bytes(8, "big")).digest() for _ in range(0, size, 64)
        ]
        return b"".join(blocks)[:size]


_dice: Final = Dice.__new__


def spread(seed: str, draws: int) -> Dice:
    """Dice of which the first draw is spread evenly over the upper 24 of `draws`' 48 bits: a mutator that is
    put to a field again and again comes through all its ways soon.

    >>> sorted(spread("lengths", visit << 24).below(5) for visit in range(5))
    [0, 1, 2, 3, 4]
    """
    lower = (_mixed(seed, draws) * _FACTOR_OF_TWO + _STEP_OF_TWO) >> 32 & _LOWER  # as in `bits`
    first = ((draws >> 24) * _GOLDEN & _UPPER) << 24 | lower
    dice = _dice(Dice)
    dice._state = (first - _STEP) * _BACK & _MASK
    return dice
