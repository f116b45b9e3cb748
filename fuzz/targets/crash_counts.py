"""Crashes and hangs by kind of case: which kinds are suspected first, and which are no longer sent."""

from __future__ import annotations

from collections import Counter
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation

DEATHS: Final = 3
"""Cases of an API, version and mutator that may end the process, before others of the kind are set aside:
each costs several restarts, and says nothing new."""

DEATHS_OF_API: Final = 30
"""The same for all of an API."""


class CrashCounts:
    """Those of one target."""

    def __init__(self) -> None:
        self._kinds: Counter[tuple[int, int, str]] = Counter()
        self._apis: Counter[int] = Counter()
        self._hung: set[int] = set()

    def saw(self, observation: Observation) -> None:
        """Count what a case did, if it did either."""
        if observation.death is not None:
            self.killed(observation.case)
        elif observation.probe is not None and not observation.probe.answered:
            self.hung(observation.case)

    def killed(self, case: Case) -> None:
        """A case has ended the process."""
        self._kinds[_kind(case)] += 1
        self._apis[case.recipe.seed.key] += 1

    def hung(self, case: Case) -> None:
        """A case has left it without an answer to a probe."""
        self._hung.add(case.recipe.seed.key)

    def likely(self, case: Case) -> bool:
        """Whether others of its API did either."""
        key = case.recipe.seed.key
        return self._apis[key] > 0 or key in self._hung

    def enough(self, case: Case) -> bool:
        """Whether so many of its kind, or of its API, did that it is not sent."""
        return (
            self._kinds[_kind(case)] >= DEATHS or self._apis[case.recipe.seed.key] >= DEATHS_OF_API
        )


def _kind(case: Case) -> tuple[int, int, str]:
    recipe = case.recipe
    return (
        recipe.seed.key,
        recipe.seed.version,
        recipe.changes[-1].mutator if recipe.changes else "",
    )
