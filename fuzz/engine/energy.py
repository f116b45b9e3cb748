"""Which seeds are chosen more often: those that reached something new in the round before.

Energies are whole numbers by a seed's origin; what is not there has `LEAST`. They change only between
rounds, as a function of what the round reached: whoever runs the round again gets the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

LEAST: Final = 1
"""What every seed has: none is ever given up."""

REWARD: Final = 4
"""For each feature that nobody had reached before."""

MOST: Final = 32
"""However much a seed reached."""


def next_energies(energies: Mapping[str, int], news: Iterable[str]) -> dict[str, int]:
    """The energies of the next round. news: the origin of the seed that reached it, for each feature
    that was new in this round. What reached nothing new loses half of what it had.

    >>> next_energies({"a": 8, "b": 3}, ["b", "c", "c"])
    {'a': 4, 'b': 5, 'c': 9}
    """
    found = {origin: energy // 2 for origin, energy in energies.items()}
    for origin in news:
        found[origin] = min(max(found.get(origin, 0), LEAST) + REWARD, MOST)
    return {origin: energy for origin, energy in sorted(found.items()) if energy > LEAST}
