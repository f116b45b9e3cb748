"""What cases came to: coverage, features and findings. Those of parts add up, in whatever order.

A campaign adds one batch after the other to its database; on Spark each shard makes stats of its own.
Both come to the same, because what is kept of several is the one with the lowest rank (`Found.rank`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from barnabas.fuzz.cases.case import Case, Recipe
from barnabas.fuzz.cases.observation import AS_VALID, SET_ASIDE, Observation
from barnabas.fuzz.oracles.oracle import Verdict, alone
from barnabas.specs.registry import NAMES

_INDEX: Final = re.compile(r"\[\d+\]")

Behaviour = tuple[str, tuple[str, ...]]
"""(oracle, behaviour): what makes two verdicts one finding."""


class Field(NamedTuple):
    """A field of a version of an API, in a message of it."""

    api: str
    version: int
    field: str


class Cell(NamedTuple):
    """A place of the coverage: a mutator was applied to a field of a version."""

    api: str
    version: int
    field: str
    mutator: str

    @property
    def place(self) -> Field:
        """Where that is."""
        return Field(self.api, self.version, self.field)


class Reached(NamedTuple):
    """A feature's first case, and the origin of the seed that it was made from."""

    case: int
    origin: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A case that was run: what it reached, and what was wrong. The observation says all else."""

    observation: Observation
    features: frozenset[str]
    verdicts: tuple[Verdict, ...]

    @property
    def number(self) -> int:
        """The case's number."""
        return self.observation.case.number


@dataclass(slots=True)
class Found:
    """A finding of some cases: how many fired, and the first of them that showed it alone, if any did.
    triggers: the places at which cases of one change fired."""

    verdict: Verdict
    observation: Observation
    count: int = 1
    triggers: Counter[Cell] = field(default_factory=Counter)

    @property
    def case(self) -> int:
        """The number of the first case."""
        return self.observation.case.number

    @property
    def rank(self) -> tuple[bool, int]:
        """Of several the lowest is kept: one that showed it alone before one that others may have."""
        return self.observation.shared, self.case


Kind = tuple[str, int, str]
"""An API, a version, a mutator ("" for none)."""


@dataclass(frozen=True, slots=True)
class Aside:
    """Cases of one kind that a target did not send: how many, and the first of them."""

    recipe: Recipe
    case: int
    count: int = 1


@dataclass(slots=True)
class Stats:
    """What some cases came to."""

    cases: int = 0
    coverage: Counter[Cell] = field(default_factory=Counter)
    features: dict[str, Reached] = field(default_factory=dict)
    findings: dict[Behaviour, Found] = field(default_factory=dict)
    aside: dict[Kind, Aside] = field(default_factory=dict)
    as_valid: Counter[Cell] = field(default_factory=Counter)
    """Of the coverage the cases that showed nothing but what valid messages show; where that is looked at."""

    def run(self, case: Case) -> None:
        """A case is run. A target may show one twice, or one of before: that is one case all the same."""
        self.cases += 1
        self.coverage.update(cells(case.recipe))

    def add(self, judged: Judged) -> None:
        """What one observation came to."""
        recipe = judged.observation.case.recipe
        facts = dict(judged.observation.facts)
        if facts.get(AS_VALID) and not judged.verdicts:
            self.as_valid.update(cells(recipe))
        if facts.get(SET_ASIDE):
            self._set_aside(_kind(recipe), Aside(recipe, judged.number))
            return
        for feature in judged.features:
            self._reach(feature, Reached(judged.number, recipe.seed.origin))
        for verdict in judged.verdicts:
            told = len(recipe.changes) == 1 and alone(verdict.oracle, judged.observation)
            triggers = Counter(cells(recipe) if told else ())
            self._find(Found(verdict, judged.observation, triggers=triggers))

    def merge(self, other: Stats) -> None:
        """What other cases came to."""
        self.cases += other.cases
        self.coverage.update(other.coverage)
        self.as_valid.update(other.as_valid)
        for feature, reached in other.features.items():
            self._reach(feature, reached)
        for found in other.findings.values():
            self._find(
                Found(found.verdict, found.observation, found.count, Counter(found.triggers))
            )
        for kind, aside in other.aside.items():
            self._set_aside(kind, aside)

    def _reach(self, feature: str, reached: Reached) -> None:
        before = self.features.get(feature)
        if before is None or reached.case < before.case:
            self.features[feature] = reached

    def _find(self, found: Found) -> None:
        key = (found.verdict.oracle, found.verdict.behaviour)
        before = self.findings.get(key)
        if before is None:
            self.findings[key] = found
            return
        kept, other = (found, before) if found.rank < before.rank else (before, found)
        kept.count += other.count
        kept.triggers.update(other.triggers)
        self.findings[key] = kept

    def _set_aside(self, kind: Kind, aside: Aside) -> None:
        before = self.aside.get(kind)
        if before is not None:
            first = min(before, aside, key=lambda one: one.case)
            aside = replace(first, count=before.count + aside.count)
        self.aside[kind] = aside


def _kind(recipe: Recipe) -> Kind:
    seed = recipe.seed
    mutator = recipe.changes[-1].mutator if recipe.changes else ""
    return NAMES.get(seed.key, str(seed.key)), seed.version, mutator


def unshown(cases: Mapping[Cell, int], as_valid: Mapping[Cell, int]) -> dict[Field, int]:
    """The fields of which no case showed anything but what valid messages show, and how many cases they had.

    >>> a, b = Cell("Fetch", 4, "a", "null"), Cell("Fetch", 4, "b", "null")
    >>> unshown({a: 2, b: 3, b._replace(mutator="enums"): 1}, {a: 1, b: 3, b._replace(mutator="enums"): 1})
    {Field(api='Fetch', version=4, field='b'): 4}
    """
    had: Counter[Field] = Counter()
    for cell, count in cases.items():
        had[cell.place] += count
    for cell, count in cases.items():
        if as_valid.get(cell, 0) < count:
            had.pop(cell.place, None)
    return dict(had)


def cells(recipe: Recipe) -> Iterator[Cell]:
    """The places that a recipe covers; a field has no indices.

    >>> from barnabas.fuzz.cases.case import Change, Seed
    >>> list(cells(Recipe(Seed(3, 9, "request", b"", ""), (Change("null", "topics[2].name", 0),))))
    [Cell(api='Metadata', version=9, field='topics[].name', mutator='null')]
    """
    seed = recipe.seed
    name = NAMES.get(seed.key, str(seed.key))
    for change in recipe.changes:
        yield Cell(name, seed.version, _INDEX.sub("[]", change.path), change.mutator)
