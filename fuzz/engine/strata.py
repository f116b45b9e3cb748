"""All that a campaign can try: each mutator at each field of each version, in an order that a seed gives.

A family is a mutator at a field of an API, told apart by how the field is written. Its variants are the
versions of the API; of a field of the header, which all APIs share, they are the APIs. The visits of a family
go round its variants, the newest version first, then the oldest, then those between; each visit of a variant
comes behind another session, or none, and in an answer of another shape. So a pass first has every mutator at
every field once, then in the oldest version, then in all others, and only then again. Mutators to which all
fields of a kind are the same have one family for each kind, with as many visits as they have turns.

Batches and what is in them are few fields among very many, and that is where most can go wrong. So every
fourth turn is one in there: of each kind of part at each depth as many as of any other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from barnabas.fuzz.cases.case import Seed, shape_of
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.engine.stats import Field
from barnabas.fuzz.frame_map.compressed import charts_of
from barnabas.fuzz.frame_map.depth import MESSAGE, depth_of
from barnabas.fuzz.frame_map.fields import FieldMap, field_of, map_of
from barnabas.fuzz.frame_map.parts import Part
from barnabas.fuzz.mutators.mutator import Mutator
from barnabas.specs.registry import NAMES

KEPT: Final = 16
"""Places that are kept at most of a variant behind one session, spread over all that were found."""
DEEP: Final = 4
"""One turn in so many is in a batch."""

Place = tuple[FieldMap, Mutator, Part]
"""A message, a mutator, and the part that it is put to."""


Turn = tuple[Place, int]
"""A place in its turn, and how many visits the family had before, from a number of its own on."""


@dataclass(slots=True)
class _Family:
    """Variant -> session or shape -> places, and how many there were. Of these, once all are found: the
    places of each, for each variant in the order in which they are visited; how many visits one pass has, and
    where their count begins."""

    variants: dict[int, dict[str, list[Place]]] = field(default_factory=dict)
    seen: dict[tuple[int, str], int] = field(default_factory=dict)
    order: tuple[tuple[list[Place], ...], ...] = ()
    visits: int = 0
    first: int = 0

    def keep(self, variant: int, session: str, place: Place, dice: SeededRandom) -> None:
        """One of its places, each as likely as any other."""
        which = variant, session
        seen = self.seen[which] = self.seen.get(which, 0) + 1
        if seen == 1:
            self.variants.setdefault(variant, {})[session] = [place]
        elif seen <= KEPT:
            self.variants[variant][session].append(place)
        elif (instead := dice.below(seen)) < KEPT:
            self.variants[variant][session][instead] = place

    def put_in_order(self) -> None:
        """The newest variant, the oldest, those between; of the sessions, none comes last."""
        variants = (self.variants[variant] for variant in _from_the_ends(self.variants))
        self.order = tuple(
            tuple(places for _, places in sorted(sessions.items(), reverse=True))
            for sessions in variants
        )


class Strata:
    """The turns of one pass, in levels: each family's first visit, its second, those of other variants, and
    what it has more turns for. The order within a level is a shuffle that depends on the seed alone. Between
    them stand the turns in batches.
    """

    def __init__(self, seed: str, corpus: Sequence[Seed], mutators: Sequence[Mutator]) -> None:
        self._mutators = tuple(mutators)
        self._charts = [charts_of(map_of(message)) for message in corpus]
        self._tables: dict[int, list[list[Place]]] = {}
        self._having: dict[Field, list[FieldMap]] = {}
        families: dict[tuple[object, ...], _Family] = {}
        dice = SeededRandom(f"strata {seed}", 0)
        for charts in self._charts:
            for chart in charts:
                self._found_in(chart, families, dice)
        levels: tuple[list[_Family], ...] = ([], [], [], [])
        deep: dict[tuple[str, str], list[_Family]] = {}
        for family in families.values():
            family.put_in_order()
            family.first = dice.below(1 << 24)
            _, mutator, part = _any(family)
            # a frame as a whole is in no version different from what it is in another
            each = len(family.order) if mutator.per == "field" and part.path else 0
            for visit in range(max(mutator.turns, each, 1)):
                levels[min(visit, 2) if visit < max(each, 2) else 3].append(family)
            depth = depth_of(part.path)
            if depth != MESSAGE:
                deep.setdefault((depth, part.kind), []).extend([family] * mutator.turns)
        for some in (*levels, *deep.values()):
            _shuffle(some, dice)
        turns: list[tuple[_Family, int]] = []
        for family in _woven([one for some in levels for one in some], list(deep.values())):
            turns.append((family, family.visits))
            family.visits += 1
        self._turns = [(one.order, one.first, one.visits, visit) for one, visit in turns]

    def _found_in(
        self, chart: FieldMap, families: dict[tuple[object, ...], _Family], dice: SeededRandom
    ) -> None:
        session = chart.session or shape_of(chart.seed.origin)
        names = {part.path: _field(chart, part) for part in chart.parts}
        for mutator in self._mutators:
            by_field = mutator.per == "field"
            for part in mutator.places(chart):
                variant, of_kind, of_field = names[part.path]
                key = (mutator.name, of_field if by_field else of_kind)
                family = families.get(key)
                if family is None:
                    family = families[key] = _Family()
                family.keep(variant, session, (chart, mutator, part), dice)

    def __len__(self) -> int:
        return len(self._turns)

    def turn(self, number: int, dice: SeededRandom) -> Turn:
        """The place whose turn it is; of several of its kind, one that is drawn."""
        again, turn = divmod(number, len(self._turns))
        order, first, visits, visit = self._turns[turn]
        visit += again * visits
        again, rank = divmod(visit, len(order))
        sessions = order[rank]
        places = sessions[(again + rank) % len(sessions)]
        return dice.pick(places), first + visit

    def anywhere(self, seed: int, dice: SeededRandom) -> Turn:
        """A place in one message: any mutator, then any place of it."""
        table = self._tables.get(seed)
        if table is None:
            by_mutator: dict[str, list[Place]] = {}
            for place in _places(self._charts[seed], self._mutators):
                by_mutator.setdefault(place[1].name, []).append(place)
            table = self._tables[seed] = list(by_mutator.values())
        if not table:
            return self.turn(dice.below(len(self._turns)), dice)
        return dice.pick(dice.pick(table)), dice.below(1 << 24)

    def at_field(self, field: Field, dice: SeededRandom) -> Turn:
        """A place at a field of a version: any message that has it, then any mutator."""
        charts = self._having.get(field)
        if charts is None:
            charts = self._having[field] = [
                chart
                for some in self._charts
                for chart in some
                if _name(chart) == (field.api, field.version)
                and any(field_of(part.path) == field.field for part in chart.parts)
            ]
        chart = dice.pick(charts) if charts else None
        by_mutator: dict[str, list[Place]] = {}
        for place in places_of(chart, self._mutators) if chart else ():
            if field_of(place[2].path) == field.field:
                by_mutator.setdefault(place[1].name, []).append(place)
        if not by_mutator:
            return self.turn(dice.below(len(self._turns)), dice)
        return dice.pick(dice.pick(list(by_mutator.values()))), dice.below(1 << 24)

    def any_place(self, chart: FieldMap, dice: SeededRandom) -> Place | None:
        """A place in a message of its own, if a mutator that is drawn has any."""
        mutator = dice.pick(self._mutators)
        places = mutator.places(chart)
        return (chart, mutator, dice.pick(places)) if places else None


def places_of(chart: FieldMap, mutators: Sequence[Mutator]) -> list[Place]:
    """All that can be tried in one map."""
    return [(chart, mutator, part) for mutator in mutators for part in mutator.places(chart)]


def _places(charts: Iterable[FieldMap], mutators: Sequence[Mutator]) -> Iterator[Place]:
    return (place for chart in charts for place in places_of(chart, mutators))


def _field(chart: FieldMap, part: Part) -> tuple[int, tuple[object, ...], tuple[object, ...]]:
    """What variant of its field a part is; what tells its kind from others, and what the field."""
    key, variant = chart.seed.key, chart.seed.version
    if part.path.startswith("header."):
        key, variant = -1, key
    of_kind = (key, chart.seed.direction, part.kind, depth_of(part.path))
    return (
        variant,
        of_kind,
        (*of_kind, field_of(part.path), part.coding, part.nullable, part.compact),
    )


def _name(chart: FieldMap) -> tuple[str, int]:
    """The API and the version of a message, as coverage has them."""
    return NAMES.get(chart.seed.key, str(chart.seed.key)), chart.seed.version


def _any(family: _Family) -> Place:
    """One of its places."""
    return next(iter(next(iter(family.variants.values())).values()))[0]


def _from_the_ends(numbers: Iterable[int]) -> tuple[int, ...]:
    """The last, the first, and what is between: the middle of the longest stretch that is left each time.

    >>> _from_the_ends(range(8))
    (7, 0, 3, 5, 1, 2, 4, 6)
    """
    left = sorted(numbers)
    found = [left[-1], left[0]][: len(left)]
    while len(found) < len(left):
        places = sorted(left.index(one) for one in found)
        gaps = [(before - after, after) for after, before in itertools.pairwise(places)]
        size, after = max(gaps, key=lambda gap: (gap[0], -gap[1]))
        found.append(left[after + size // 2])
    return tuple(found)


def _woven(plain: Sequence[_Family], deep: Sequence[Sequence[_Family]]) -> Iterator[_Family]:
    """All of the one, and one of the others in every DEEP: of each group in turn, there of each in turn."""
    groups = itertools.cycle([itertools.cycle(group) for group in deep])
    for at, family in enumerate(plain, 1):
        yield family
        if deep and at % (DEEP - 1) == 0:
            yield next(next(groups))


def _shuffle(things: list[_Family], dice: SeededRandom) -> None:
    """Fisher and Yates's."""
    for last in range(len(things) - 1, 0, -1):
        other = dice.below(last + 1)
        things[last], things[other] = things[other], things[last]
