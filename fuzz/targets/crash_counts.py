"""Counts of crashes and hangs by kind of case: suspects are tried first, frequent kinds set aside."""

from __future__ import annotations

from collections import Counter
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation

DEATHS: Final = 3
"""Cases of one API, version and mutator that may end the process before others of the kind are set aside:
each costs several restarts and gives no new finding."""

DEATHS_OF_API: Final = 30
"""Cases of one API that may end the process before all others of it are set aside."""


class CrashCounts:
    """The crashes and hangs of one target."""

    def __init__(self) -> None:
        self._kinds: Counter[tuple[int, int, str]] = Counter()
        self._apis: Counter[int] = Counter()
        self._hung: set[int] = set()

    def count(self, observation: Observation) -> None:
        """Count a crash or a hang that an observation shows."""
        if observation.death is not None:
            self.count_crash(observation.case)
        elif observation.probe is not None and not observation.probe.answered:
            self.count_hang(observation.case)

    def count_crash(self, case: Case) -> None:
        """Count a case that ended the process."""
        self._kinds[_kind(case)] += 1
        self._apis[case.recipe.seed.key] += 1

    def count_hang(self, case: Case) -> None:
        """Count a case after which a probe was not answered."""
        self._hung.add(case.recipe.seed.key)

    def is_suspected(self, case: Case) -> bool:
        """Return whether other cases of the API caused a crash or a hang."""
        key = case.recipe.seed.key
        return self._apis[key] > 0 or key in self._hung

    def is_frequent(self, case: Case) -> bool:
        """Return whether so many cases of the kind or the API ended the process that this one is not sent."""
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
