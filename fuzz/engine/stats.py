"""Statistics of cases: coverage, features and findings. Statistics of parts add up in any order.

A campaign adds one batch after the other to its database; on Spark each shard makes its own statistics. Both
give the same result, because of several detections the one with the lowest `Detection.rank` is kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from barnabas.fuzz.cases.case import Case, Recipe
from barnabas.fuzz.cases.observation import AS_VALID, SET_ASIDE, Observation
from barnabas.fuzz.observations.case_labels import recipe_labels
from barnabas.fuzz.oracles.oracle import Verdict, alone
from barnabas.specs.registry import NAMES

_INDEX: Final = re.compile(r"\[\d+\]")

Behaviour = tuple[str, tuple[str, ...]]
"""(oracle, behaviour): what a replay must show again."""

FindingKey = tuple[str | tuple[str, ...], ...]
"""The oracle and the behaviour, and for some oracles the API, the direction and the field: detections with
equal values are one finding."""

BY_FIELD: Final = frozenset(
    ("client-died", "client-raised", "died", "fatal", "logged", "traceback")
)
"""Oracles whose behaviours are frames: one case is kept for each API and field, since a helper may fail for
bugs in several messages."""


class Field(NamedTuple):
    """A field of one version of an API."""

    api: str
    version: int
    field: str


class Cell(NamedTuple):
    """A cell of the coverage: a mutator that was applied to a field of a version."""

    api: str
    version: int
    field: str
    mutator: str

    @property
    def place(self) -> Field:
        """Return the field."""
        return Field(self.api, self.version, self.field)


class Reached(NamedTuple):
    """The first case of a feature, and the origin of its seed."""

    case: int
    origin: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A case that was run, with its observation, features and verdicts."""

    observation: Observation
    features: frozenset[str]
    verdicts: tuple[Verdict, ...]

    @property
    def number(self) -> int:
        """Return the case's number."""
        return self.observation.case.number


@dataclass(slots=True)
class Detection:
    """A finding of some cases: how many fired, and the first that showed it alone, if one did.

    triggers: the cells at which cases with one change fired.
    """

    verdict: Verdict
    observation: Observation
    count: int = 1
    triggers: Counter[Cell] = field(default_factory=Counter)

    @property
    def case(self) -> int:
        """Return the number of the first case."""
        return self.observation.case.number

    @property
    def key(self) -> FindingKey:
        """Return what tells the finding from others.

        Several cases that only together show a problem have no common field.
        """
        verdict = self.verdict
        labels = recipe_labels(self.observation.case.recipe)
        by_field = verdict.oracle in BY_FIELD and labels[0] not in verdict.behaviour
        if not by_field or not alone(verdict.oracle, self.observation):
            return verdict.oracle, verdict.behaviour
        return verdict.oracle, verdict.behaviour, labels

    @property
    def rank(self) -> tuple[bool, int]:
        """Return the sort key: a case that showed the finding alone comes before one that shares it."""
        return self.observation.shared, self.case


CaseKind = tuple[str, int, str, str]
"""An API, a version, a mutator ("" for none), and the reason why cases were set aside."""


@dataclass(frozen=True, slots=True)
class Aside:
    """Cases of one kind that a target did not send: how many, and the first of them."""

    recipe: Recipe
    case: int
    count: int = 1


@dataclass(slots=True)
class Stats:
    """The results of some cases."""

    cases: int = 0
    coverage: Counter[Cell] = field(default_factory=Counter)
    features: dict[str, Reached] = field(default_factory=dict)
    findings: dict[FindingKey, Detection] = field(default_factory=dict)
    aside: dict[CaseKind, Aside] = field(default_factory=dict)
    as_valid: Counter[Cell] = field(default_factory=Counter)
    """Cases of the coverage that showed only features of valid messages, if these are known."""

    def run(self, case: Case) -> None:
        """Count a case. A target may return a case twice, or an earlier one again: it counts once."""
        self.cases += 1
        self.coverage.update(cells(case.recipe))

    def add(self, judged: Judged) -> None:
        """Add the features and verdicts of one observation."""
        recipe = judged.observation.case.recipe
        facts = dict(judged.observation.facts)
        if facts.get(AS_VALID) and not judged.verdicts:
            self.as_valid.update(cells(recipe))
        if facts.get(SET_ASIDE):
            self._set_aside(case_kind(recipe, str(facts[SET_ASIDE])), Aside(recipe, judged.number))
            return
        for feature in judged.features:
            self._reach(feature, Reached(judged.number, recipe.seed.origin))
        for verdict in judged.verdicts:
            attributable = len(recipe.changes) == 1 and alone(verdict.oracle, judged.observation)
            triggers = Counter(cells(recipe) if attributable else ())
            self._find(Detection(verdict, judged.observation, triggers=triggers))

    def merge(self, other: Stats) -> None:
        """Add the statistics of other cases."""
        self.cases += other.cases
        self.coverage.update(other.coverage)
        self.as_valid.update(other.as_valid)
        for feature, reached in other.features.items():
            self._reach(feature, reached)
        for detection in other.findings.values():
            self._find(
                Detection(
                    detection.verdict,
                    detection.observation,
                    detection.count,
                    Counter(detection.triggers),
                )
            )
        for kind, aside in other.aside.items():
            self._set_aside(kind, aside)

    def _reach(self, feature: str, reached: Reached) -> None:
        before = self.features.get(feature)
        if before is None or reached.case < before.case:
            self.features[feature] = reached

    def _find(self, detection: Detection) -> None:
        key = detection.key
        before = self.findings.get(key)
        if before is None:
            self.findings[key] = detection
            return
        retained, other = (
            (detection, before) if detection.rank < before.rank else (before, detection)
        )
        retained.count += other.count
        retained.triggers.update(other.triggers)
        self.findings[key] = retained

    def _set_aside(self, kind: CaseKind, aside: Aside) -> None:
        before = self.aside.get(kind)
        if before is not None:
            first = min(before, aside, key=lambda skipped: skipped.case)
            aside = replace(first, count=before.count + aside.count)
        self.aside[kind] = aside


def case_kind(recipe: Recipe, reason: str) -> CaseKind:
    """Return the kind of a case that was set aside for a reason."""
    seed = recipe.seed
    mutator = recipe.changes[-1].mutator if recipe.changes else ""
    return NAMES.get(seed.key, str(seed.key)), seed.version, mutator, reason


def unshown(cases: Mapping[Cell, int], as_valid: Mapping[Cell, int]) -> dict[Field, int]:
    """Return the fields without a result, and how many cases they had.

    A field has a result if a case showed anything but the features of a valid message.

    >>> a, b = Cell("Fetch", 4, "a", "null"), Cell("Fetch", 4, "b", "null")
    >>> unshown({a: 2, b: 3, b._replace(mutator="enums"): 1}, {a: 1, b: 3, b._replace(mutator="enums"): 1})
    {Field(api='Fetch', version=4, field='b'): 4}
    """
    case_counts: Counter[Field] = Counter()
    for cell, count in cases.items():
        case_counts[cell.place] += count
    for cell, count in cases.items():
        if as_valid.get(cell, 0) < count:
            case_counts.pop(cell.place, None)
    return dict(case_counts)


def cells(recipe: Recipe) -> Iterator[Cell]:
    """Yield the cells that a recipe covers; fields have no indices.

    >>> from barnabas.fuzz.cases.case import Change, Seed
    >>> list(cells(Recipe(Seed(3, 9, "request", b"", ""), (Change("null", "topics[2].name", 0),))))
    [Cell(api='Metadata', version=9, field='topics[].name', mutator='null')]
    """
    seed = recipe.seed
    name = NAMES.get(seed.key, str(seed.key))
    for change in recipe.changes:
        yield Cell(name, seed.version, _INDEX.sub("[]", change.path), change.mutator)
