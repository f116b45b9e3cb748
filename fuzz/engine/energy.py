"""Energies: how much more often seeds with new results, and fields without any result, are chosen.

A seed that reached something new in a round gets energy, and so does a field if no case has shown that the
target reads it. Energies are integers, by a seed's origin or a field's key. A seed without an entry has
`LEAST`, a field none. Energies change only between rounds, as a function of what the rounds reached, so a
repeated round gets the same energies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from barnabas.fuzz.engine.stats import Field

LEAST: Final = 1
"""The energy of every seed: none is ever given up."""

REWARD: Final = 4
"""The energy for each new feature."""

MOST: Final = 32
"""The maximal energy of a seed; also the number of cases after which a field without a result gets none."""

_FIELD: Final = "field "
"""The prefix of a field's key; no origin begins with it."""


def next_energies(
    energies: Mapping[str, int], news: Iterable[str], unshown: Mapping[Field, int]
) -> dict[str, int]:
    """Return the energies of the next round.

    Args:
        energies: The energies of this round. A seed that reached nothing new loses half of its energy.
        news: For each new feature, the origin of the seed that reached it.
        unshown: Fields without a result, and how many cases they had: the more cases, the less energy.

    >>> next_energies({"a": 8, "b": 3}, ["b", "c", "c"], {})
    {'a': 4, 'b': 5, 'c': 9}
    >>> next_energies({}, [], {Field("Fetch", 4, "a"): 3, Field("Fetch", 4, "b"): 33})
    {'field Fetch 4 a': 10}
    """
    halved = {origin: energy // 2 for origin, energy in of_seeds(energies).items()}
    for origin in news:
        halved[origin] = min(max(halved.get(origin, 0), LEAST) + REWARD, MOST)
    next_round = {origin: energy for origin, energy in halved.items() if energy > LEAST}
    for (api, version, path), cases in unshown.items():
        if cases <= MOST:
            next_round[f"{_FIELD}{api} {version} {path}"] = MOST // cases
    return dict(sorted(next_round.items()))


def of_seeds(energies: Mapping[str, int]) -> dict[str, int]:
    """Return the energies of seeds, by origin."""
    return {origin: energy for origin, energy in energies.items() if not origin.startswith(_FIELD)}


def of_fields(energies: Mapping[str, int]) -> dict[Field, int]:
    """Return the energies of fields.

    >>> of_fields({"a": 8, "field Fetch 4 topics[].name": 10})
    {Field(api='Fetch', version=4, field='topics[].name'): 10}
    """
    by_field = {}
    for key, energy in energies.items():
        if key.startswith(_FIELD):
            api, version, path = key.removeprefix(_FIELD).split(" ", 2)
            by_field[Field(api, int(version), path)] = energy
    return by_field
