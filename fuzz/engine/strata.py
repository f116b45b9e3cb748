"""All combinations of mutator and field that a campaign can try, in an order that its seed determines.

A family is a mutator at a field of an API, for each encoding of the field. Its variants are the versions of
the API; for a field of the header, which all APIs share, they are the APIs. The visits of a family go round
its variants: the newest version, the oldest, then those between. Each visit of a variant uses another
session, or none, and another shape of a response. So a pass first has every mutator at every field once, then
in the oldest version, then in all others, and only then again. A mutator that treats all fields of a kind
alike has one family for each kind, with as many visits as it has turns.

Record batches, their contents and messages inside bytes are few fields among very many, but most can go wrong
there. So every third turn belongs to a class of these fields (`fuzz/frame_map/depth.py`), with equal shares
for each kind of field of the class. The turns of a class that no message has go to the other fields.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from barnabas.fuzz.cases.case import Seed, shape_of
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.engine.stats import Field
from barnabas.fuzz.frame_map.compressed import charts_of
from barnabas.fuzz.frame_map.depth import CLASSES, COUNTS, MESSAGE, class_of, depth_of
from barnabas.fuzz.frame_map.fields import FieldMap, field_of, map_of
from barnabas.fuzz.frame_map.parts import Part
from barnabas.fuzz.mutators.mutator import Mutator
from barnabas.specs.registry import NAMES

KEPT: Final = 16
"""Positions that are kept of a variant and a session, spread over all that exist."""
DEEP: Final = 3
"""One turn in this many is for a class of fields below the message."""

Place = tuple[FieldMap, Mutator, Part]
"""A message, a mutator, and the field that the mutator is applied to."""


Turn = tuple[Place, int]
"""A position, and how many visits its family had before, counted from a random offset."""


@dataclass(slots=True)
class _Family:
    """A mutator at a field, with its positions by variant and by session or shape.

    counts: how many positions there were. order: the positions of each session, for each variant in the order
    of visits. visits: the visits of one pass. first: the offset of their count.
    """

    variants: dict[int, dict[str, list[Place]]] = field(default_factory=dict)
    counts: dict[tuple[int, str], int] = field(default_factory=dict)
    order: tuple[tuple[list[Place], ...], ...] = ()
    visits: int = 0
    first: int = 0

    def keep(self, variant: int, session: str, position: Place, dice: SeededRandom) -> None:
        """Keep a position; each is kept with equal probability."""
        variant_and_session = variant, session
        count = self.counts[variant_and_session] = self.counts.get(variant_and_session, 0) + 1
        if count == 1:
            self.variants.setdefault(variant, {})[session] = [position]
        elif count <= KEPT:
            self.variants[variant][session].append(position)
        elif (instead := dice.below(count)) < KEPT:
            self.variants[variant][session][instead] = position

    def put_in_order(self) -> None:
        """Order the variants: the newest, the oldest, those between. No session comes last.

        Sessions that the newest variant lacks, such as those of older protocols, come right after it.
        """
        in_order = [self.variants[variant] for variant in _from_the_ends(self.variants)]
        latest: dict[str, list[Place]] = {}
        for variant in sorted(self.variants):
            latest |= self.variants[variant]
        older = {
            session: places
            for session, places in latest.items()
            if session not in in_order[0] and places[0][0].session
        }
        if older:
            in_order.insert(1, older)
        self.order = tuple(_turned(sessions, self.first) for sessions in in_order)


class Strata:
    """The turns of one pass, in levels: each family's first visit, its second, other variants, further turns.

    The order within a level is a shuffle that depends on the seed alone. The turns within batches are spread
    evenly between the others.
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
        deep: dict[str, dict[tuple[str, str], list[_Family]]] = {}
        for family in families.values():
            family.first = dice.below(1 << 24)
            family.put_in_order()
            _, mutator, part = _any(family)
            # a whole frame is equal in all versions
            each = len(family.order) if mutator.per == "field" and part.path else 0
            for visit in range(max(mutator.turns, each, 1)):
                levels[min(visit, 2) if visit < max(each, 2) else 3].append(family)
            depth = depth_of(part.path)
            if depth != MESSAGE:
                name = class_of(part.path)
                kind = part.path.rpartition("]")[2] if name == COUNTS else part.kind
                kinds = deep.setdefault(name, {})
                kinds.setdefault((depth, kind), []).extend([family] * mutator.turns)
        kinds_of = {name: list(kinds.values()) for name, kinds in deep.items()}
        for group in (*levels, *itertools.chain.from_iterable(kinds_of.values())):
            _shuffle(group, dice)
        turns: list[tuple[_Family, int]] = []
        for family in _woven([family for level in levels for family in level], kinds_of):
            turns.append((family, family.visits))
            family.visits += 1
        self._turns = [
            (family.order, family.first, family.visits, visit) for family, visit in turns
        ]

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
        """Return the position for a number; of several of its kind, a random one."""
        passes, turn = divmod(number, len(self._turns))
        order, first, visits, visit = self._turns[turn]
        visit += passes * visits
        passes, rank = divmod(visit, len(order))
        sessions = order[rank]
        places = sessions[(passes + rank) % len(sessions)]
        return dice.pick(places), first + visit

    def anywhere(self, seed: int, dice: SeededRandom) -> Turn:
        """Return a random position in one message: any mutator, then any of its fields."""
        table = self._tables.get(seed)
        if table is None:
            by_mutator: dict[str, list[Place]] = {}
            for position in _places(self._charts[seed], self._mutators):
                by_mutator.setdefault(position[1].name, []).append(position)
            table = self._tables[seed] = list(by_mutator.values())
        if not table:
            return self.turn(dice.below(len(self._turns)), dice)
        return dice.pick(dice.pick(table)), dice.below(1 << 24)

    def at_field(self, field: Field, dice: SeededRandom) -> Turn:
        """Return a random position at a field of a version: any message that has it, then any mutator."""
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
        for position in places_of(chart, self._mutators) if chart else ():
            if field_of(position[2].path) == field.field:
                by_mutator.setdefault(position[1].name, []).append(position)
        if not by_mutator:
            return self.turn(dice.below(len(self._turns)), dice)
        return dice.pick(dice.pick(list(by_mutator.values()))), dice.below(1 << 24)

    def any_place(self, chart: FieldMap, dice: SeededRandom) -> Place | None:
        """Return a random position in a message for a random mutator; None if that has none."""
        mutator = dice.pick(self._mutators)
        places = mutator.places(chart)
        return (chart, mutator, dice.pick(places)) if places else None


def places_of(chart: FieldMap, mutators: Sequence[Mutator]) -> list[Place]:
    """Return all positions in one map."""
    return [(chart, mutator, part) for mutator in mutators for part in mutator.places(chart)]


def _places(charts: Iterable[FieldMap], mutators: Sequence[Mutator]) -> Iterator[Place]:
    return (position for chart in charts for position in places_of(chart, mutators))


def _field(chart: FieldMap, part: Part) -> tuple[int, tuple[object, ...], tuple[object, ...]]:
    """Return the variant of a field, the key of its kind, and the key of the field."""
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
    """Return the API and the version of a message, as coverage has them."""
    return NAMES.get(chart.seed.key, str(chart.seed.key)), chart.seed.version


def _any(family: _Family) -> Place:
    """Return one of a family's positions."""
    return next(iter(next(iter(family.variants.values())).values()))[0]


def _from_the_ends(numbers: Iterable[int]) -> tuple[int, ...]:
    """Return the last number, the first, then always the middle of the longest remaining stretch.

    >>> _from_the_ends(range(8))
    (7, 0, 3, 5, 1, 2, 4, 6)
    """
    ordered = sorted(numbers)
    chosen = [ordered[-1], ordered[0]][: len(ordered)]
    while len(chosen) < len(ordered):
        places = sorted(ordered.index(number) for number in chosen)
        gaps = [(before - after, after) for after, before in itertools.pairwise(places)]
        size, after = max(gaps, key=lambda gap: (gap[0], -gap[1]))
        chosen.append(ordered[after + size // 2])
    return tuple(chosen)


def _turned(sessions: Mapping[str, list[Place]], by: int) -> tuple[list[Place], ...]:
    """Return the positions by session, of which any one is first, and after them those without one.

    A response's shape or context counts as a session.
    """
    names = sorted(sessions, reverse=True)
    led = [name for name in names if name and _is_led(sessions[name][0][0])]
    by %= max(len(led), 1)
    plain = [name for name in names if name not in led]
    return tuple(sessions[name] for name in (*led[by:], *led[:by], *plain))


def _is_led(chart: FieldMap) -> bool:
    return bool(chart.session) or chart.seed.direction == "response"


def _woven(
    plain: Sequence[_Family], deep: Mapping[str, Sequence[Sequence[_Family]]]
) -> Iterator[_Family]:
    """Yield all plain families, and after every DEEP - 1 of them one of the class whose turn it is.

    deep: for each class the families of its kinds, which come in turn.
    """
    families = {
        name: map(next, itertools.cycle([itertools.cycle(kind) for kind in kinds]))
        for name, kinds in deep.items()
    }
    names = itertools.cycle(CLASSES)
    for at, family in enumerate(plain, 1):
        yield family
        if at % (DEEP - 1) == 0 and (name := next(names)) in families:
            yield next(families[name])


def _shuffle(things: list[_Family], dice: SeededRandom) -> None:
    """Shuffle in place (Fisher and Yates)."""
    for last in range(len(things) - 1, 0, -1):
        other = dice.below(last + 1)
        things[last], things[other] = things[other], things[last]
