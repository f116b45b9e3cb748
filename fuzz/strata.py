"""All that a campaign can try: each mutator at each field, in an order that a seed gives.

A stratum is a mutator at a field of an API, told apart by how the field is written and by the session it
comes behind, whatever the version. Mutators to which all fields of a kind are the same have one stratum for
each kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fuzz.case import Seed
from fuzz.dice import Dice
from fuzz.fieldmap import FieldMap, field_of, map_of
from fuzz.mutators.mutator import Mutator

KEPT: Final = 64
"""Places that a stratum keeps at most, spread over all that were found."""

Place = tuple[FieldMap, Mutator, int]
"""A message, a mutator, and the index of the part that it is put to."""


class Strata:
    """found: the strata of one pass, each as its places, and as often as it has a turn in it.

    Their order is a shuffle that depends on the seed alone.
    """

    def __init__(self, seed: str, corpus: Sequence[Seed], mutators: Sequence[Mutator]) -> None:
        self._mutators = tuple(mutators)
        self._charts = [map_of(message) for message in corpus]
        self._tables: dict[int, list[Place]] = {}
        strata: dict[tuple[object, ...], list[Place]] = {}
        seen: dict[tuple[object, ...], int] = {}
        dice = Dice(f"strata {seed}", 0)
        for chart in self._charts:
            for place in places_of(chart, self._mutators):
                key = _stratum(*place)
                kept = strata.setdefault(key, [])
                seen[key] = seen.get(key, 0) + 1
                if len(kept) < KEPT:
                    kept.append(place)
                elif (instead := dice.below(seen[key])) < KEPT:
                    kept[instead] = place
        self.found = [
            places for places in strata.values() for _ in range(max(places[0][1].turns, 1))
        ]
        _shuffle(self.found, dice)

    def stratum(self, turn: int, dice: Dice) -> Place:
        """A place of the stratum whose turn it is."""
        places = self.found[turn % len(self.found)]
        return places[dice.below(len(places))]

    def anywhere(self, seed: int, dice: Dice) -> Place:
        """A place in one message."""
        table = self._tables.get(seed)
        if table is None:
            table = self._tables[seed] = places_of(self._charts[seed], self._mutators)
        if not table:
            return self.stratum(dice.below(len(self.found)), dice)
        return dice.pick(table)

    def any_place(self, chart: FieldMap, dice: Dice) -> tuple[Mutator | None, int]:
        """A mutator, and the index of a part that it can be put to, in a message of its own."""
        mutator = dice.pick(self._mutators)
        places = mutator.places(chart)
        return (mutator, _indices(chart, places)[dice.below(len(places))]) if places else (None, 0)


def places_of(chart: FieldMap, mutators: Sequence[Mutator]) -> list[Place]:
    """All that can be tried with one message."""
    return [
        (chart, mutator, index)
        for mutator in mutators
        for index in _indices(chart, mutator.places(chart))
    ]


def _indices(chart: FieldMap, places: Sequence[object]) -> list[int]:
    """Where parts stand in their map; they come in its order."""
    found = []
    index = 0
    for place in places:
        while chart.parts[index] is not place:
            index += 1
        found.append(index)
    return found


def _stratum(chart: FieldMap, mutator: Mutator, index: int) -> tuple[object, ...]:
    seed, part = chart.seed, chart.parts[index]
    session = seed.origin.split(":")[1] if seed.origin.startswith("session:") else ""
    what = (seed.key, seed.direction, session, mutator.name, part.kind)
    if mutator.per == "kind":
        return what
    return (*what, field_of(part.path), part.coding, part.nullable, part.compact)


def _shuffle(things: list[list[Place]], dice: Dice) -> None:
    """Fisher and Yates's."""
    for last in range(len(things) - 1, 0, -1):
        other = dice.below(last + 1)
        things[last], things[other] = things[other], things[last]
