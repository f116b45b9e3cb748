"""One recipe again: whether it still fires, and what else does. For replay, shrinking and rediscovery."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from barnabas.fuzz.cases.case import Case, Recipe
from barnabas.fuzz.engine.running import judge
from barnabas.fuzz.engine.stats import Behaviour
from barnabas.fuzz.oracles.oracle import Oracle, Verdict
from barnabas.fuzz.targets.target import Target

Cook = Callable[[Recipe, int], Case]
"""Makes the case of a recipe; raises LookupError or ValueError for one that can't be."""


class Replayed(NamedTuple):
    """At which attempt it fired, from 1 (0: at none), and all that was wrong the last time."""

    attempt: int
    verdicts: tuple[Verdict, ...]

    @property
    def fired(self) -> bool:
        """Whether it did."""
        return self.attempt > 0


def replay(
    target: Target, oracles: Sequence[Oracle], case: Case, wanted: Behaviour, attempts: int = 1
) -> Replayed:
    """Run a case until it shows a behaviour, at most so many times."""
    verdicts: tuple[Verdict, ...] = ()
    for attempt in range(1, attempts + 1):
        # what ends late is shown once more, with its end
        seen = list(target.run([case]))
        verdicts = tuple(verdict for one in seen for verdict in judge(one, oracles))
        if any((verdict.oracle, verdict.behaviour) == wanted for verdict in verdicts):
            return Replayed(attempt, verdicts)
    return Replayed(0, verdicts)


def fires_on(
    target: Target,
    oracles: Sequence[Oracle],
    cook: Cook,
    wanted: Behaviour,
    over: Callable[[], bool] = lambda: False,
) -> Callable[[Recipe], bool]:
    """For shrinking: whether a recipe shows a behaviour. What can't be cooked does not; nor does
    anything, unasked, once `over()`."""

    def fires(recipe: Recipe) -> bool:
        if over():
            return False
        try:
            case = cook(recipe, 0)
        except (LookupError, ValueError):
            return False
        return replay(target, oracles, case, wanted).fired

    return fires
