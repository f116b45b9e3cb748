"""Which seeds are chosen more often: those that reached something new in the round before. And which fields:
those of which no case has shown that the target reads them.

Energies are whole numbers by a seed's origin, or by a field's key; a seed that is not there has `LEAST`, a
field none. They change only between rounds, as a function of what the rounds reached: whoever runs a round
again gets the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from barnabas.fuzz.engine.stats import Field

LEAST: Final = 1
"""What every seed has: none is ever given up."""

REWARD: Final = 4
"""For each feature that nobody had reached before."""

MOST: Final = 32
"""However much a seed reached; also the cases behind which a field that shows nothing gets no more."""

_FIELD: Final = "field "
"""How the keys of fields begin; no origin does."""


def next_energies(
    energies: Mapping[str, int], news: Iterable[str], unshown: Mapping[Field, int]
) -> dict[str, int]:
    """The energies of the next round. news: the origin of the seed that reached it, for each feature
    that was new in this round. What reached nothing new loses half of what it had. unshown: fields, and how
    many cases showed nothing of them: the more there are, the less it gets.

    >>> next_energies({"a": 8, "b": 3}, ["b", "c", "c"], {})
    {'a': 4, 'b': 5, 'c': 9}
    >>> next_energies({}, [], {Field("Fetch", 4, "a"): 3, Field("Fetch", 4, "b"): 33})
    {'field Fetch 4 a': 10}
    """
    found = {origin: energy // 2 for origin, energy in of_seeds(energies).items()}
    for origin in news:
        found[origin] = min(max(found.get(origin, 0), LEAST) + REWARD, MOST)
    kept = {origin: energy for origin, energy in found.items() if energy > LEAST}
    for (api, version, path), cases in unshown.items():
        if cases <= MOST:
            kept[f"{_FIELD}{api} {version} {path}"] = MOST // cases
    return dict(sorted(kept.items()))


def of_seeds(energies: Mapping[str, int]) -> dict[str, int]:
    """Those by an origin."""
    return {origin: energy for origin, energy in energies.items() if not origin.startswith(_FIELD)}


def of_fields(energies: Mapping[str, int]) -> dict[Field, int]:
    """Those by a field.

    >>> of_fields({"a": 8, "field Fetch 4 topics[].name": 10})
    {Field(api='Fetch', version=4, field='topics[].name'): 10}
    """
    found = {}
    for key, energy in energies.items():
        if key.startswith(_FIELD):
            api, version, path = key.removeprefix(_FIELD).split(" ", 2)
            found[Field(api, int(version), path)] = energy
    return found
