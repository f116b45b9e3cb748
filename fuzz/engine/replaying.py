"""One finding again: whether it still fires, and what else does. For replay, shrinking and rediscovery."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache
from operator import eq
from typing import Literal, NamedTuple

from barnabas.fuzz.cases.case import Case, Recipe
from barnabas.fuzz.engine.running import judge
from barnabas.fuzz.engine.stats import Behaviour, Found
from barnabas.fuzz.observations.about import NO_STACK
from barnabas.fuzz.oracles.oracle import Oracle, Verdict
from barnabas.fuzz.targets.target import Target

Cook = Callable[[Recipe, int], Case]
"""Makes the case of a recipe; raises LookupError or ValueError for one that can't be."""


Outcome = Literal["same", "another", "nothing"]
"""What a case did that had shown a behaviour: the same, something else that is wrong, or nothing."""


class Replayed(NamedTuple):
    """At which attempt it fired, from 1 (0: at none), and all that was wrong the last time that any was."""

    attempt: int
    found: tuple[Found, ...]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What was wrong, without where it was seen."""
        return tuple(one.verdict for one in self.found)

    @property
    def fired(self) -> bool:
        """Whether it did."""
        return self.attempt > 0

    @property
    def outcome(self) -> Outcome:
        """The worst of all attempts."""
        return "same" if self.fired else "another" if self.verdicts else "nothing"


def alike(one: Behaviour, other: Behaviour) -> bool:
    """Whether two behaviours of one case are one bug: they agree as far as both tell. A process may have no
    stack to tell, or no log.

    >>> bare = "fatal", ("java.lang.OutOfMemoryError", "no stack", "Metadata", "counts topics.count")
    >>> alike(bare, ("fatal", ("java.lang.OutOfMemoryError", "kafka.A.f")))
    True
    """
    return one[0] == other[0] and all(map(eq, _told(one[1]), _told(other[1])))


def _told(behaviour: tuple[str, ...]) -> tuple[str, ...]:
    """What stands in front of the place of a stack that was not left."""
    return behaviour[: behaviour.index(NO_STACK)] if NO_STACK in behaviour else behaviour


def replay(
    target: Target,
    oracles: Sequence[Oracle],
    cases: Sequence[Case],
    wanted: Behaviour,
    attempts: int = 1,
    over: Callable[[], bool] = lambda: False,
) -> Replayed:
    """Run cases, in order, until they show a behaviour or one like it, at most so many times. Once it is
    `over()` a late answer is waited for no longer, where the target can be told so."""
    run = target.run if len(cases) == 1 else getattr(target, "together", target.run)
    patient_until = getattr(target, "patient_until", lambda over: nullcontext())
    latest: tuple[Found, ...] = ()
    for attempt in range(1, attempts + 1):
        # what ends late is shown once more, with its end
        with patient_until(over):
            seen = list(run(cases))
        found = tuple(Found(verdict, one) for one in seen for verdict in judge(one, oracles))
        latest = found or latest
        if any(shows(one, wanted) for one in found):
            return Replayed(attempt, latest)
    return Replayed(0, latest)


def shows(found: Found, wanted: Behaviour) -> bool:
    """Whether what was wrong is a behaviour, or one like it."""
    return alike((found.verdict.oracle, found.verdict.behaviour), wanted)


def size_by(cook: Cook) -> Callable[[Recipe], int]:
    """For shrinking: the bytes of a recipe's case; 0 of one that can't be cooked, since it does not fire."""

    @lru_cache(2)
    def size(recipe: Recipe) -> int:
        try:
            return sum(map(len, cook(recipe, 0).chunks))
        except (LookupError, ValueError):
            return 0

    return size


def fires_on(
    target: Target,
    oracles: Sequence[Oracle],
    cook: Cook,
    wanted: Behaviour,
    over: Callable[[], bool] = lambda: False,
    shown: Callable[[Found], None] = lambda found: None,
) -> Callable[[Recipe], bool]:
    """For shrinking: whether a recipe shows a behaviour. What can't be cooked does not; nor does
    anything, unasked, once `over()`. shown: called with what showed it."""

    def fires(recipe: Recipe) -> bool:
        if over():
            return False
        try:
            case = cook(recipe, 0)
        except (LookupError, ValueError):
            return False
        replayed = replay(target, oracles, [case], wanted, over=over)
        if replayed.fired:
            shown(next(one for one in replayed.found if shows(one, wanted)))
        return replayed.fired

    return fires
