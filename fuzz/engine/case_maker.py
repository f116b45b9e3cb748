"""From a number to a case: the mutator, the field of a message, and the mutator's draws.

A campaign goes through all combinations in the order of `barnabas.fuzz.engine.strata`: each mutator at each
field of each version, also inside compressed containers. Rare fields get their turn as often as common ones.
If there are energies, every fourth case is drawn by them instead: a message in proportion to its seed's
energy, then any mutator, then any of its fields. If fields have energy, every second of these cases is drawn
by field: a field in proportion to its energy, then any message that has it, then any mutator.
"""

from __future__ import annotations

import functools
import itertools
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final

from barnabas.fuzz.cases.case import Case, Change, Recipe, Seed
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.cases.tuples import tuple_of
from barnabas.fuzz.engine.energy import of_fields, of_seeds
from barnabas.fuzz.engine.live_fields import live_places
from barnabas.fuzz.engine.strata import Place, Strata, Turn
from barnabas.fuzz.frame_map.compressed import charts_of, message_of
from barnabas.fuzz.frame_map.fields import FieldMap, map_of
from barnabas.fuzz.frame_map.parts import Part
from barnabas.fuzz.mutators.mutator import Mutated, Mutator
from barnabas.fuzz.mutators.registry import MUTATORS, MUTATORS_BY_NAME
from barnabas.fuzz.mutators.repacking import repack

HOT: Final = 4
"""One case in this many is drawn by energies; more would make a pass over all combinations too long."""
FIELDS: Final = 2
"""One in this many of the cases drawn by energies is drawn by field, if fields have energy: an eighth of all
cases, or all that are drawn if no message has energy."""
_DRAWS: Final = 1 << 24
_MORE_ONE_IN: Final = 100
"""One case in this many has a second change."""
_MAPPED: Final = 2 << 10
"""Bytes of a message that may be mapped once more, for a second change."""


class Maker:
    """Makes the case of any number, always the same for equal seed, corpus and energies.

    Args:
        seed: The campaign's seed, any text.
        corpus: The messages that cases start from.
        mutators: The mutators.
        energies: Energies of at least 1 by a seed's origin or a field's key; 1 if there is no entry.

    Raises:
        ValueError: No mutator applies to any message.
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
        """Return how many cases one pass over everything takes (a third more with energies)."""
        return len(self._strata)

    def case(self, number: int) -> Case:
        """Make the case of a number."""
        return self.cases(range(number, number + 1))[0]

    def cases(self, numbers: range) -> list[Case]:
        """Make the cases of some numbers, in order.

        One mutator makes all of its cases before the next one does: a processor is faster at what it has
        just done.
        """
        drawn = [self._drawn(number) for number in numbers]
        drawn.sort(key=_by_mutator)
        return sorted(itertools.starmap(self._made, drawn))

    def _drawn(self, number: int) -> tuple[int, Place, int, SeededRandom]:
        """Draw a case's position, the number for its mutator's draws, and the generator for the rest."""
        dice = SeededRandom(self._root, number)
        position, visit = self._turn(number, dice)
        return number, position, (visit % _DRAWS) << 24 | dice.below(_DRAWS), dice

    def _made(self, number: int, position: Place, draws: int, dice: SeededRandom) -> Case:
        chart, mutator, part = position
        mutated = _applied(mutator, chart, part, draws)
        change = tuple_of(Change, (mutator.name, part.path, draws, mutated.detail))
        if chart.packing is not None:
            chart = message_of(chart)
        if dice.below(_MORE_ONE_IN):
            return _case(number, chart, (change,), mutated)
        return self._twice(number, chart, change, mutated, dice)

    def _turn(self, number: int, dice: SeededRandom) -> Turn:
        """Choose the place of a case: every HOT-th by energies, if there are any, the others in turn."""
        if not self._hot:
            return self._strata.turn(number, dice)
        if number % HOT != HOT - 1:
            return self._strata.turn(number - number // HOT, dice)
        if self._fields and (number // HOT % FIELDS == 0 or not self._seeds):
            return self._strata.at_field(self._fields[self._field.pick(dice)], dice)
        return self._strata.anywhere(self._seed.pick(dice), dice)

    def _twice(
        self,
        number: int,
        chart: FieldMap,
        first: Change,
        first_mutated: Mutated,
        dice: SeededRandom,
    ) -> Case:
        """Apply a second change to what the first one left, as far as that can be read."""
        after = _after(chart, first_mutated)
        position = self._strata.any_place(after, dice) if after else None
        if position is None:
            return _case(number, chart, (first,), first_mutated)
        after, mutator, part = position
        draws = dice.below(_DRAWS << 24)
        second_mutated = _applied(mutator, after, part, draws)
        second = Change(mutator.name, part.path, draws, second_mutated.detail)
        return _case(number, chart, (first, second), second_mutated)


def cook(recipe: Recipe, number: int) -> Case:
    """Make the case of a recipe. Raises LookupError for an unknown mutator or path.

    The case of a recipe without changes is its seed, unchanged. `detail` of changes is ignored.
    """
    start = chart = _map_of(recipe.seed)
    mutated = Mutated((chart.framed,), "")
    done: list[Change] = []
    for change in recipe.changes:
        if done:
            after = _after(chart, mutated)
            if after is None:
                raise LookupError(f"nothing can be changed after {done[-1].mutator}")
            chart = after
        mutator = MUTATORS_BY_NAME.get(change.mutator)
        if mutator is None:
            raise LookupError(f"unknown mutator {change.mutator!r}")
        position = _place(mutator, chart, change.path)
        if position is None:
            raise LookupError(f"{change.mutator} has no place at {change.path!r} in this message")
        mutated = _applied(mutator, *position, change.draws)
        done.append(change._replace(detail=mutated.detail))
    return _case(number, start, tuple(done), mutated)


_map_of = functools.lru_cache(maxsize=256)(map_of)
_strata = functools.lru_cache(maxsize=2)(Strata)
"""The strata of a campaign, which asks for the same ones in each round."""


def _applied(mutator: Mutator, chart: FieldMap, part: Part, draws: int) -> Mutated:
    """Apply a mutator to a part of a message, or of what is packed in it."""
    dice = SeededRandom.spread(mutator.name, draws)
    mutated = mutator.apply(chart, part, dice)
    return mutated if chart.packing is None else repack(chart, mutated, dice)


def _place(mutator: Mutator, chart: FieldMap, path: str) -> tuple[FieldMap, Part] | None:
    """Find a path in a message or what is packed in it, if the mutator can be applied there."""
    for inner in charts_of(chart):
        if path in inner.index:
            for part in mutator.places(inner):
                if part.path == path:
                    return inner, part
    return None


def _after(chart: FieldMap, mutated: Mutated) -> FieldMap | None:
    """Map a changed message; None unless it is one short message whose header can be read."""
    if len(mutated.chunks) != 1 or mutated.delivery != "whole" or len(mutated.chunks[0]) > _MAPPED:
        return None
    seed = chart.seed
    after = map_of(Seed(seed.key, seed.version, seed.direction, mutated.chunks[0][4:], seed.origin))
    return after if len(after.parts) > 1 else None


def _case(number: int, chart: FieldMap, changes: tuple[Change, ...], mutated: Mutated) -> Case:
    """Return a case. chart: of its seed."""
    chunks, _, delivery = mutated
    session = chart.session
    live = live_places(chart, changes, chunks, session)
    recipe = tuple_of(Recipe, (chart.seed, changes, session))
    return tuple_of(Case, (number, recipe, chunks, live, delivery))


def _by_mutator(drawn: tuple[int, Place, int, SeededRandom]) -> str:
    return drawn[1][1].name


class _Heat:
    """Draws in proportion to energies."""

    def __init__(self, energies: Iterable[int]) -> None:
        self._sums = list(accumulate(max(energy, 1) for energy in energies))

    def pick(self, dice: SeededRandom) -> int:
        """Draw an index."""
        return bisect_right(self._sums, dice.below(self._sums[-1]))
