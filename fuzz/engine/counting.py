"""Targets that count the lines which they reach: by valid messages first, then by cases. What valid messages
show is known then, so each case is told apart that shows nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from barnabas.fuzz.cases.case import Case, Recipe, Seed, session_of
from barnabas.fuzz.cases.observation import AS_VALID, REACHED, Observation, is_set_aside
from barnabas.fuzz.coverage.lines import Meter, Reach
from barnabas.fuzz.engine.features import features
from barnabas.fuzz.engine.making import cook
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.targets.target import Runs, Target


class Counts(Target, Protocol):
    """A target that can count them."""

    @property
    def meter(self) -> Meter | None:
        """What counts, while it runs."""
        ...

    def count(self, *, guiding: bool) -> None:
        """Begin with its next start; guiding: so that lines can be feedback. Raises Misuse, CannotRun."""
        ...

    def reached(self) -> Reach:
        """Until now. Raises CannotRun."""
        ...

    def anew(self) -> None:
        """Be as it was at its start, but for what was reached. Raises CannotRun."""
        ...


def counting(target: Target, *, guiding: bool = False) -> Counts:
    """A target that is not started yet, made to count. guiding: so that lines can be feedback. Raises Misuse,
    CannotRun."""
    if not hasattr(target, "count"):
        raise Misuse(f"{target.name}: its lines can't be counted; those of apache and client can")
    counts: Counts = target  # type: ignore[assignment]
    counts.count(guiding=guiding)
    return counts


Shows = Mapping[Seed, frozenset[str]]
"""What each seed shows as it is."""


def what_valid_shows(target: Runs, corpus: Sequence[Seed]) -> Shows:
    """Run all seeds as they are: those of a session first, while nobody has deleted what that needs. A target
    is not what it was then."""
    some = sorted(corpus, key=lambda seed: not session_of(seed.origin))
    cases = [cook(Recipe(seed, ()), ~number) for number, seed in enumerate(some)]
    # who is the first to reach a line shows nothing that others could show
    return {
        one.case.recipe.seed: features(replace(one, facts=tuple(_without(one.facts))))
        for one in target.run(cases)
    }


def _without(facts: Iterable[tuple[str, object]]) -> Iterator[tuple[str, object]]:
    return (fact for fact in facts if fact[0] != REACHED)


class Compared:
    """A target that is running, which tells what cases show nothing but what their seeds show."""

    def __init__(self, target: Runs, shows: Shows) -> None:
        self._target, self._shows = target, shows

    @property
    def at_once(self) -> int:
        """As the target has it."""
        return self._target.at_once

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases in order."""
        for observation in self._target.run(cases):
            seed = observation.case.recipe.seed
            unasked = seed.direction == "response" and is_set_aside(observation)
            if unasked or features(observation) == self._shows.get(seed):
                observation = replace(observation, facts=(*observation.facts, (AS_VALID, True)))
            yield observation
