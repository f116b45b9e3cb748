"""What programs passed, as probes: bits of a class, a function or a file."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final, NamedTuple

PROBES: Final = 1 << 20
"""Probes of one of these at most: who says more is no program of ours."""

ROOM: Final = 1 << 30
"""Bits of what all processes of a target passed, names and all."""

_KEY: Final = 1 << 12
"""Bits that a key takes beside its name and its probes."""


class Key(NamedTuple):
    """What has probes, told from others of its name."""

    id: int
    name: str


class Probes(NamedTuple):
    """Those that were passed, as bits, and how many there are; 0: nobody said."""

    passed: int
    size: int


Told = Mapping[Key, Probes]


def merge(into: dict[Key, Probes], more: Told) -> None:
    """Add what others passed."""
    for key, probes in more.items():
        before = into.get(key)
        into[key] = probes._replace(passed=before.passed | probes.passed) if before else probes


def fresh(told: Told, known: Told) -> dict[Key, int]:
    """Of what was passed that which was not known, as bits.

    >>> key = Key(0, "f")
    >>> fresh({key: Probes(0b110, 3)}, {key: Probes(0b10, 3)})
    {Key(id=0, name='f'): 4}
    """
    return {
        key: new
        for key, (passed, _) in told.items()
        if (new := passed & ~known.get(key, Probes(0, 0)).passed)
    }


def feature(key: Key, new: int) -> str:
    """What a case shows that was the first to pass these.

    >>> feature(Key(0, "f"), 0b110)
    'reached f 1'
    """
    return f"reached {key.name} {(new & -new).bit_length() - 1}"


class Passed:
    """What all processes of a target passed until now; threads may add to it."""

    def __init__(self) -> None:
        self.all: dict[Key, Probes] = {}
        self._lock = threading.Lock()
        self._size = 0

    def add(self, told: Told) -> list[str]:
        """Add what one of them did; returns the features of what nobody had passed before. What there is no
        room for is forgotten, which is a feature."""
        with self._lock:
            new = fresh(told, self.all)
            size = self._size + sum(self._more(key, told[key].passed) for key in told)
            if size > ROOM:
                return ["reached more than is kept"]
            self._size = size
            merge(self.all, told)
        return [feature(key, bits) for key, bits in new.items()]

    def _more(self, key: Key, passed: int) -> int:
        known = self.all.get(key)
        if known is None:
            return _KEY + 8 * len(key.name) + passed.bit_length()
        return max(0, passed.bit_length() - known.passed.bit_length())
