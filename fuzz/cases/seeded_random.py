"""The draws of one case: a function of (seed, case number) and of nothing else.

`random.Random` takes longer to seed than a case may take to make. Here a hash of the seed, kept, and the
number are mixed (SplitMix64's finisher: Steele, Lea and Flood 2014), and a linear congruential generator goes
on from there (Knuth's MMIX); of its 64 bits the upper ones are used.

In Python most of the time of a draw is not for its arithmetic. So many dice draw at once (`Abreast`): their
states stand in one large int, each in a lane of 128 bits, where a product of two numbers of 64 bits has
room. One operation on that int is one on all of them.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable, Sequence
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
_WEYL: Final = 0x9E3779B97F4A7C15
_MIX: Final = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
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
    mixed = (_root(seed) + number * _WEYL) & _MASK
    mixed = ((mixed ^ mixed >> 30) * _MIX[0]) & _MASK
    mixed = ((mixed ^ mixed >> 27) * _MIX[1]) & _MASK
    return mixed ^ mixed >> 31


class SeededRandom:
    """Numbers that look random: the same ones for the same seed (any text or bytes) and number.

    >>> [SeededRandom("campaign", 7).below(100) for _ in range(2)]
    [70, 70]

    state: all there is to it; `resumed` goes on from there.
    """

    __slots__ = ("state",)

    def __init__(self, seed: str | bytes, number: int) -> None:
        self.state = _mixed(seed, number)

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1; limit is at least 1 and at most 2^64."""
        self.state = state = (self.state * _FACTOR + _STEP) & _MASK
        if limit <= _SMALL:
            return (state >> 24) * limit >> 40
        self.state = more = (state * _FACTOR + _STEP) & _MASK
        return (state >> 32 << 32 | more >> 32) % limit

    def upper(self) -> int:
        """40 bits: what `below` and `pick` take their share of, up to 2^20."""
        self.state = state = (self.state * _FACTOR + _STEP) & _MASK
        return state >> 24

    def bits(self) -> int:
        """24 bits: what `below(1 << 24)` is, sooner."""
        self.state = state = (self.state * _FACTOR_OF_TWO + _STEP_OF_TWO) & _MASK
        return state >> 32 & _LOWER

    def between(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, one_in: int) -> bool:
        """True once in so many times."""
        return self.below(one_in) == 0

    def pick(self, things: Sequence[T]) -> T:
        """One of these; there is at least one, and 2^20 at most."""
        self.state = state = (self.state * _FACTOR + _STEP) & _MASK  # as in `below`
        return things[(state >> 24) * len(things) >> 40]

    def some_bytes(self, size: int) -> bytes:
        """So many bytes."""
        if not size:
            return b""
        state, blocks = self.state, []
        for _ in range(0, size, 64):  # a draw each, as `below(1 << 64)` has it
            upper = (state * _FACTOR + _STEP) & _MASK
            state = (upper * _FACTOR + _STEP) & _MASK
            seed = upper >> 32 << 32 | state >> 32
            blocks.append(blake2b(seed.to_bytes(8, "big")).digest())
        self.state = state
        return b"".join(blocks)[:size]


_dice: Final = SeededRandom.__new__


def resumed(state: int) -> SeededRandom:
    """Numbers that go on from a state in which others were."""
    dice = _dice(SeededRandom)
    dice.state = state
    return dice


def spread(seed: str, draws: int) -> SeededRandom:
    """Numbers of which the first draw is spread evenly over the upper 24 of `draws`' 48 bits: a mutator that
    is put to a field again and again comes through all its ways soon.

    >>> sorted(spread("lengths", visit << 24).below(5) for visit in range(5))
    [0, 1, 2, 3, 4]
    """
    lower = (_mixed(seed, draws) * _FACTOR_OF_TWO + _STEP_OF_TWO) >> 32 & _LOWER  # as in `bits`
    first = ((draws >> 24) * _GOLDEN & _UPPER) << 24 | lower
    return resumed((first - _STEP) * _BACK & _MASK)


ABREAST: Final = 64
"""How many dice begin at once."""
_LANES: Final = struct.Struct("<" + "Q8x" * ABREAST)
_ONES: Final = sum(1 << 128 * lane for lane in range(ABREAST))
_MASKS: Final = _ONES * _MASK
_LOWERS: Final = _ONES * _LOWER
_UPPERS: Final = _ONES * _UPPER
_STEPS: Final = _ONES * _STEP
_STEPS_OF_TWO: Final = _ONES * _STEP_OF_TWO
_STEPS_BACK: Final = _ONES * (-_STEP & _MASK)
_COUNTED: Final = sum(lane << 128 * lane for lane in range(ABREAST))


class Abreast:
    """The dice of `ABREAST` numbers, from one on. Each draw is one of each of them, as `SeededRandom` has it.

    >>> Abreast("campaign", 0).below(100)[7] == SeededRandom("campaign", 7).below(100)
    True
    """

    def __init__(self, seed: str | bytes, number: int) -> None:
        self._states = _mixed_abreast(_ONES * _root(seed), _ONES * number + _COUNTED)

    def states(self) -> tuple[int, ...]:
        """The states that they are in."""
        return _apart(self._states)

    def upper(self) -> tuple[int, ...]:
        """40 bits each."""
        self._states = (self._states * _FACTOR + _STEPS) & _MASKS
        return _apart(self._states >> 24 & _UPPERS)

    def bits(self) -> tuple[int, ...]:
        """24 bits each."""
        self._states = (self._states * _FACTOR_OF_TWO + _STEPS_OF_TWO) & _MASKS
        return _apart(self._states >> 32 & _LOWERS)

    def below(self, limit: int) -> tuple[int, ...]:
        """A number from 0 to limit - 1 each; limit is at most 2^20."""
        self._states = (self._states * _FACTOR + _STEPS) & _MASKS
        return _apart((self._states >> 24 & _UPPERS) * limit >> 40 & _LOWERS)


def all_spread(seeds: Iterable[str], draws: Sequence[int]) -> tuple[int, ...]:
    """The states of what `spread` gives for each pair, of at most `ABREAST`; what follows is of no use."""
    numbers = _abreast(draws)
    mixed = _mixed_abreast(_abreast([_root(seed) for seed in seeds]), numbers)
    lower = (mixed * _FACTOR_OF_TWO + _STEPS_OF_TWO) >> 32 & _LOWERS
    upper = (numbers >> 24 & _LOWERS) * _GOLDEN & _UPPERS
    return _apart(((upper << 24 | lower) + _STEPS_BACK & _MASKS) * _BACK & _MASKS)


def _mixed_abreast(roots: int, numbers: int) -> int:
    """As `_mixed`, of numbers below 2^63; what a lane shifts into the one below it is masked away."""
    mixed = roots + (numbers * _WEYL & _MASKS) & _MASKS
    mixed = ((mixed ^ mixed >> 30) & _MASKS) * _MIX[0] & _MASKS
    mixed = ((mixed ^ mixed >> 27) & _MASKS) * _MIX[1] & _MASKS
    return (mixed ^ mixed >> 31) & _MASKS


def _abreast(numbers: Sequence[int]) -> int:
    return int.from_bytes(_LANES.pack(*numbers, *(0,) * (ABREAST - len(numbers))), "little")


def _apart(lanes: int) -> tuple[int, ...]:
    return _LANES.unpack(lanes.to_bytes(_LANES.size, "little"))
