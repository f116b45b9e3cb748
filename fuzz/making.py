"""From a number to a case: which mutator is put to which field of which message, and what it does there.

A campaign walks over all there is to try, in the order of `fuzz.strata`: each mutator at each field of each
version, also inside of what is compressed. So rare places get their turn as often as common ones. Where
energies are given, every fourth case is drawn by them instead: a message in proportion to its seed's energy,
then any mutator, then any place of it.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

from fuzz.case import Case, Change, Recipe, Seed, session_of
from fuzz.dice import Dice, spread
from fuzz.fieldmap import FieldMap, map_of
from fuzz.mutators.contents import MUTATORS
from fuzz.mutators.mutator import Mutated, Mutator
from fuzz.packing import message_of, packed_again, unpacked
from fuzz.parts import Part
from fuzz.placing import live_places
from fuzz.strata import Strata, Turn
from fuzz.tuples import tuple_of

HOT: Final = 4
"""One case in so many is drawn by energies: more, and a pass over everything would take too long."""
_DRAWS: Final = 1 << 48
_VISITS: Final = (1 << 24) - 1
_MORE_ONE_IN: Final = 100
"""How rarely a case has a second change."""
_MAPPED: Final = 2 << 10
"""Bytes of a message that is mapped once more, for a second change."""


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
            raise ValueError("there is no message that a mutator could be put to")
        self._heat = _Heat(corpus, energies) if energies else None

    @property
    def strata(self) -> int:
        """How many cases one pass over everything takes (a third more with energies)."""
        return len(self._strata)

    def case(self, number: int) -> Case:
        """The case of a number."""
        dice = Dice(self._root, number)
        (chart, mutator, part), visit = (
            self._strata.turn(number, dice) if self._heat is None else self._turn(number, dice)
        )
        draws = (visit & _VISITS) << 24 | dice.bits()
        made = _applied(mutator, chart, part, draws)
        first = tuple_of(Change, (mutator.name, part.path, draws, made.detail))
        if chart.packing is not None:
            chart = message_of(chart)
        if dice.below(_MORE_ONE_IN):
            return _case(number, chart, (first,), made)
        return self._twice(number, chart, first, made, dice)

    def _turn(self, number: int, dice: Dice) -> Turn:
        """The place of a case where energies are given."""
        assert self._heat is not None  # noqa: S101
        if number % HOT == HOT - 1:
            return self._strata.anywhere(self._heat.seed(dice), dice)
        return self._strata.turn(number - number // HOT, dice)

    def _twice(
        self, number: int, chart: FieldMap, first: Change, made: Mutated, dice: Dice
    ) -> Case:
        """A second change to what the first one left, as far as that can be read."""
        after = _after(chart, made)
        place = self._strata.any_place(after, dice) if after else None
        if place is None:
            return _case(number, chart, (first,), made)
        after, mutator, part = place
        draws = dice.below(_DRAWS)
        again = _applied(mutator, after, part, draws)
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
                raise LookupError(f"nothing can be changed behind {done[-1].mutator}")
            chart = after
        mutator = by_name.get(change.mutator)
        if mutator is None:
            raise LookupError(f"no mutator is called {change.mutator!r}")
        found = _place(mutator, chart, change.path)
        if found is None:
            raise LookupError(f"{change.mutator} has no place at {change.path!r} in this message")
        made = _applied(mutator, *found, change.draws)
        done.append(change._replace(detail=made.detail))
    return _case(number, start, tuple(done), made)


_map_of = functools.lru_cache(maxsize=256)(map_of)
_strata = functools.lru_cache(maxsize=2)(Strata)
"""A campaign asks for the same in each of its rounds."""


def _applied(mutator: Mutator, chart: FieldMap, part: Part, draws: int) -> Mutated:
    """What a mutator makes of a message at a part of it, or of what is packed in it."""
    dice = spread(mutator.name, draws)
    made = mutator.apply(chart, part, dice)
    return made if chart.packing is None else packed_again(chart, made, dice)


def _place(mutator: Mutator, chart: FieldMap, path: str) -> tuple[FieldMap, Part] | None:
    """Where a path is, in a message or what is packed in it, if the mutator can be put to it."""
    for one in (chart, *unpacked(chart)):
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
    seed = chart.seed
    session = session_of(seed.origin)
    live = live_places(chart, changes, chunks, session)
    recipe = tuple_of(Recipe, (seed, changes, session))
    return tuple_of(Case, (number, recipe, chunks, live, delivery))


class _Heat:
    """Draws seeds in proportion to their energies."""

    def __init__(self, corpus: Sequence[Seed], energies: Mapping[str, int]) -> None:
        self._sums = list(accumulate(max(energies.get(seed.origin, 1), 1) for seed in corpus))

    def seed(self, dice: Dice) -> int:
        """The index of one."""
        return bisect_right(self._sums, dice.below(self._sums[-1]))
