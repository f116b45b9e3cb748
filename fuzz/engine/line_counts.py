"""Targets that count the lines they reach: first with valid messages, then with cases.

A case that shows only the features of its valid message is marked with the fact AS_VALID.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from barnabas.fuzz.cases.case import Case, Recipe, Seed, session_of
from barnabas.fuzz.cases.observation import AS_VALID, REACHED, Observation, is_set_aside
from barnabas.fuzz.coverage.lines import Meter, Reach
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.engine.features import features
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.targets.target import CaseRunner, Target


class CountingTarget(Target, Protocol):
    """A target that can count the lines that it reaches."""

    @property
    def meter(self) -> Meter | None:
        """Return the meter while the target runs, else None."""
        ...

    def count(self, *, guiding: bool) -> None:
        """Count lines from the next start on. Raises Misuse, CannotRun.

        guiding: count in a way that lines can be feedback.
        """
        ...

    def reached(self) -> Reach:
        """Return the lines that were reached so far. Raises CannotRun."""
        ...

    def reset(self) -> None:
        """Restore the target's state at its start, keeping the lines that were reached. Raises CannotRun."""
        ...


def count_lines(target: Target, *, guiding: bool = False) -> CountingTarget:
    """Make a target, which is not started yet, count its lines. Raises Misuse, CannotRun.

    guiding: count in a way that lines can be feedback.
    """
    if not hasattr(target, "count"):
        raise Misuse(
            f"{target.name}: no line coverage; targets of the kinds apache and client have it"
        )
    counts: CountingTarget = target  # type: ignore[assignment]
    counts.count(guiding=guiding)
    return counts


Shows = Mapping[Seed, frozenset[str]]
"""The features that each seed shows without mutations."""


def what_valid_shows(target: CaseRunner, corpus: Sequence[Seed]) -> Shows:
    """Run all seeds without mutations and return the features of each.

    Seeds of sessions run first, while no request has deleted what they need. The target's state is changed
    afterwards.
    """
    some = sorted(corpus, key=lambda seed: not session_of(seed.origin))
    cases = [cook(Recipe(seed, ()), ~number) for number, seed in enumerate(some)]
    # only the first case to reach a line has the fact REACHED
    return {
        observation.case.recipe.seed: features(
            replace(observation, facts=tuple(_without(observation.facts)))
        )
        for observation in target.run(cases)
    }


def _without(facts: Iterable[tuple[str, object]]) -> Iterator[tuple[str, object]]:
    return (fact for fact in facts if fact[0] != REACHED)


class ComparedTarget:
    """A running target that marks cases which show only the features of their seeds."""

    def __init__(self, target: CaseRunner, shows: Shows) -> None:
        self._target, self._shows = target, shows

    @property
    def at_once(self) -> int:
        """Return the number of cases that the target is best given at once."""
        return self._target.at_once

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Run cases in order."""
        for observation in self._target.run(cases):
            seed = observation.case.recipe.seed
            unasked = seed.direction == "response" and is_set_aside(observation)
            if unasked or features(observation) == self._shows.get(seed):
                observation = replace(observation, facts=(*observation.facts, (AS_VALID, True)))
            yield observation
