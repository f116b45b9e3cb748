"""From a number to a case: which mutator is put to which field of which message, and what it does there.

A campaign walks over all there is to try, in the order of `barnabas.fuzz.engine.strata`: each mutator at
each field of each version, also inside of what is compressed. So rare places get their turn as often as
common ones. Where energies are given, every fourth case is drawn by them instead: a message in proportion to
its seed's energy, then any mutator, then any place of it; where fields have energy, every second of these is
of a field in proportion to that, then any message that has it, then any mutator.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Final

from barnabas.fuzz.cases.case import Case, Change, Recipe, Seed
from barnabas.fuzz.cases.seeded_random import (
    ABREAST,
    Abreast,
    SeededRandom,
    all_spread,
    resumed,
    spread,
)
from barnabas.fuzz.cases.tuples import tuple_of
from barnabas.fuzz.engine.energy import of_fields, of_seeds
from barnabas.fuzz.engine.placing import live_places
from barnabas.fuzz.engine.strata import Place, Strata, Turn
from barnabas.fuzz.frame_map.compressed import charts_of, message_of
from barnabas.fuzz.frame_map.fields import FieldMap, map_of
from barnabas.fuzz.frame_map.parts import Part
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutating.repacking import packed_again
from barnabas.fuzz.mutators.registry import MUTATORS

HOT: Final = 4
"""One case in so many is drawn by energies: more, and a pass over everything would take too long."""
FIELDS: Final = 2
"""And one in so many of these for a field, if any has energy: an eighth of all cases, or all that is drawn
if no message has any."""
_DRAWS: Final = 1 << 48
_VISITS: Final = (1 << 24) - 1
_MORE_ONE_IN: Final = 100
"""How rarely a case has a second change."""
_MAPPED: Final = 2 << 10
"""Bytes of a message that is mapped once more, for a second change."""

_Opened = tuple[int, Place, int, int, int | None]
"""A case's number, its place, what its mutator's draws are made from, and the state of the dice for those; of
a case that has a second change the state that its own dice are left in."""


class Maker:
    """Makes the case of any number: always the same one for a seed, a corpus and energies.

    seed: the campaign's, any text. energies: by a seed's origin, at least 1; 1 where nothing is said.
    Raises ValueError if there is nothing to mutate.
    """

    def __init__(
        self,
        seed: str,
        corpus: Sequence[Seed],
        mutators: Sequence[Mutator] = MUTATORS,
        energies: Mapping[str, int] | None = None,
    ) -> None:
        self._root = f"case {seed}"
        self._strata = _strata(seed, tuple(corpus), tuple(mutators))
        if not len(self._strata):
            raise ValueError("no seed message has a place for any of the mutators")
        energies = energies or {}
        seeds, fields = of_seeds(energies), of_fields(energies)
        self._fields, self._field = tuple(fields), _Heat(fields.values())
        self._seed = _Heat(seeds.get(seed.origin, 1) for seed in corpus)
        self._seeds, self._hot = bool(seeds), bool(energies)

    @property
    def strata(self) -> int:
        """How many cases one pass over everything takes (a third more with energies)."""
        return len(self._strata)

    def case(self, number: int) -> Case:
        """The case of a number."""
        return self.cases(range(number, number + 1))[0]

    def cases(self, numbers: range) -> list[Case]:
        """The cases of numbers that follow each other: many are made sooner than one after the other.

        What is drawn before a mutator draws is drawn for `ABREAST` cases at once. And one mutator makes all
        of its cases before the next one does: a processor is faster at what it has just done.
        """
        opened = [
            one
            for first in range(numbers.start, numbers.stop, ABREAST)
            for one in self._open(range(first, min(first + ABREAST, numbers.stop)))
        ]
        opened.sort(key=lambda one: one[1][1].name)
        found = []
        for number, (chart, mutator, part), draws, state, more in opened:
            made = _applied(mutator, chart, part, resumed(state))
            change = tuple_of(Change, (mutator.name, part.path, draws, made.detail))
            if chart.packing is not None:
                chart = message_of(chart)
            if more is None:
                found.append(_case(number, chart, (change,), made))
            else:
                found.append(self._twice(number, chart, change, made, resumed(more)))
        found.sort(key=itemgetter(0))
        return found

    def _open(self, numbers: range) -> Iterator[_Opened]:
        """Cases as far as they are before their mutators draw, of `ABREAST` numbers at most."""
        dice = Abreast(self._root, numbers.start)
        begun = dice.states()
        first = dice.upper(), dice.bits(), dice.below(_MORE_ONE_IN), dice.states()
        places: list[Place] = []
        draws: list[int] = []
        more: list[int | None] = []
        for number, upper, bits, once, state in zip(numbers, *first, strict=False):
            if not self._hot:
                place, visit = self._strata.turn(number, upper)
            elif number % HOT != HOT - 1:
                place, visit = self._strata.turn(number - number // HOT, upper)
            else:
                own = resumed(begun[number - numbers.start])
                place, visit = self._drawn(number // HOT, own)
                bits, once, state = own.bits(), own.below(_MORE_ONE_IN), own.state
            places.append(place)
            draws.append((visit & _VISITS) << 24 | bits)
            more.append(None if once else state)
        states = all_spread([mutator.name for _, mutator, _ in places], draws)
        return zip(numbers, places, draws, states, more, strict=False)

    def _drawn(self, turn: int, dice: SeededRandom) -> Turn:
        """A place by energies."""
        if self._fields and (turn % FIELDS == 0 or not self._seeds):
            return self._strata.at_field(self._fields[self._field.pick(dice)], dice)
        return self._strata.anywhere(self._seed.pick(dice), dice)

    def _twice(
        self, number: int, chart: FieldMap, first: Change, made: Mutated, dice: SeededRandom
    ) -> Case:
        """A second change to what the first one left, as far as that can be read."""
        after = _after(chart, made)
        place = self._strata.any_place(after, dice) if after else None
        if place is None:
            return _case(number, chart, (first,), made)
        after, mutator, part = place
        draws = dice.below(_DRAWS)
        again = _applied(mutator, after, part, spread(mutator.name, draws))
        second = Change(mutator.name, part.path, draws, again.detail)
        return _case(number, chart, (first, second), again)


def cook(recipe: Recipe, number: int, mutators: Sequence[Mutator] = MUTATORS) -> Case:
    """The case of a recipe. Raises LookupError for a mutator or a path that there is not.

    A recipe without changes is its seed, as it is. `detail` of its changes is not looked at.
    """
    by_name = {mutator.name: mutator for mutator in mutators}
    start = chart = _map_of(recipe.seed)
    made = Mutated((chart.framed,), "")
    done: list[Change] = []
    for change in recipe.changes:
        if done:
            after = _after(chart, made)
            if after is None:
                raise LookupError(f"nothing can be changed after {done[-1].mutator}")
            chart = after
        mutator = by_name.get(change.mutator)
        if mutator is None:
            raise LookupError(f"unknown mutator {change.mutator!r}")
        found = _place(mutator, chart, change.path)
        if found is None:
            raise LookupError(f"{change.mutator} has no place at {change.path!r} in this message")
        made = _applied(mutator, *found, spread(mutator.name, change.draws))
        done.append(change._replace(detail=made.detail))
    return _case(number, start, tuple(done), made)


_map_of = functools.lru_cache(maxsize=256)(map_of)
_strata = functools.lru_cache(maxsize=2)(Strata)
"""A campaign asks for the same in each of its rounds."""


def _applied(mutator: Mutator, chart: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """What a mutator makes of a message at a part of it, or of what is packed in it."""
    made = mutator.apply(chart, part, dice)
    return made if chart.packing is None else packed_again(chart, made, dice)


def _place(mutator: Mutator, chart: FieldMap, path: str) -> tuple[FieldMap, Part] | None:
    """Where a path is, in a message or what is packed in it, if the mutator can be put to it."""
    for one in charts_of(chart):
        if path in one.index:
            for part in mutator.places(one):
                if part.path == path:
                    return one, part
    return None


def _after(chart: FieldMap, made: Mutated) -> FieldMap | None:
    """The map of a changed message, if it still is one, not a large one, and its header can be read."""
    if len(made.chunks) != 1 or made.delivery != "whole" or len(made.chunks[0]) > _MAPPED:
        return None
    seed = chart.seed
    after = map_of(Seed(seed.key, seed.version, seed.direction, made.chunks[0][4:], seed.origin))
    return after if len(after.parts) > 1 else None


def _case(number: int, chart: FieldMap, changes: tuple[Change, ...], made: Mutated) -> Case:
    """chart: of the seed."""
    chunks, _, delivery = made
    session = chart.session
    live = live_places(chart, changes, chunks, session)
    recipe = tuple_of(Recipe, (chart.seed, changes, session))
    return tuple_of(Case, (number, recipe, chunks, live, delivery))


class _Heat:
    """Draws in proportion to energies."""

    def __init__(self, energies: Iterable[int]) -> None:
        self._sums = list(accumulate(max(energy, 1) for energy in energies))

    def pick(self, dice: SeededRandom) -> int:
        """The index of one."""
        return bisect_right(self._sums, dice.below(self._sums[-1]))
