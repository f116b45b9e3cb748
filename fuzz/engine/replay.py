"""Replays of one finding: does it still fire, and what else? For replay, shrinking, rediscovery."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache
from operator import eq
from typing import Literal, NamedTuple

from barnabas.fuzz.cases.case import Case, Recipe
from barnabas.fuzz.engine.rounds import judge
from barnabas.fuzz.engine.stats import Behaviour, Detection
from barnabas.fuzz.observations.case_labels import NO_STACK
from barnabas.fuzz.oracles.oracle import Oracle, Verdict
from barnabas.fuzz.targets.target import Target

Cook = Callable[[Recipe, int], Case]
"""Makes the case of a recipe; raises LookupError or ValueError if the recipe is impossible."""


Outcome = Literal["same", "another", "nothing"]
"""What a case did that had shown a behaviour: the same, another problem, or nothing."""


class Replayed(NamedTuple):
    """The result of a replay.

    Attributes:
        attempt: The attempt at which the finding fired, from 1; 0 for none.
        detections: The problems of the last attempt that had any.
    """

    attempt: int
    detections: tuple[Detection, ...]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts of the detections."""
        return tuple(detection.verdict for detection in self.detections)

    @property
    def fired(self) -> bool:
        """Return whether the finding fired."""
        return self.attempt > 0

    @property
    def outcome(self) -> Outcome:
        """Return the worst outcome of all attempts."""
        return "same" if self.fired else "another" if self.verdicts else "nothing"


def alike(first: Behaviour, second: Behaviour) -> bool:
    """Return whether two behaviours of one case are one bug: they agree as far as both have details.

    A process may have no stack or no log.

    >>> bare = "fatal", ("java.lang.OutOfMemoryError", "no stack", "Metadata", "counts topics.count")
    >>> alike(bare, ("fatal", ("java.lang.OutOfMemoryError", "kafka.A.f")))
    True
    """
    return first[0] == second[0] and all(map(eq, _told(first[1]), _told(second[1])))


def _told(behaviour: tuple[str, ...]) -> tuple[str, ...]:
    """Return the part of a behaviour before the marker of a missing stack."""
    return behaviour[: behaviour.index(NO_STACK)] if NO_STACK in behaviour else behaviour


def replay(
    target: Target,
    oracles: Sequence[Oracle],
    cases: Sequence[Case],
    behaviour: Behaviour,
    attempts: int = 1,
    over: Callable[[], bool] = lambda: False,
) -> Replayed:
    """Run cases in order until they show a behaviour or one like it.

    Args:
        target: The target.
        oracles: The oracles that judge.
        cases: The cases.
        behaviour: The behaviour of the finding.
        attempts: The maximal number of attempts.
        over: Once it returns True, late responses are no longer waited for, if the target can stop waiting.
    """
    run = target.run if len(cases) == 1 else getattr(target, "together", target.run)
    patient_until = getattr(target, "patient_until", lambda over: nullcontext())
    latest: tuple[Detection, ...] = ()
    for attempt in range(1, attempts + 1):
        # an observation may come twice, the second time with the process's exit
        with patient_until(over):
            observations = list(run(cases))
        detections = tuple(
            Detection(verdict, detection)
            for detection in observations
            for verdict in judge(detection, oracles)
        )
        latest = detections or latest
        if any(shows(detection, behaviour) for detection in detections):
            return Replayed(attempt, latest)
    return Replayed(0, latest)


def shows(detection: Detection, behaviour: Behaviour) -> bool:
    """Return whether a detection is a behaviour, or one like it."""
    return alike((detection.verdict.oracle, detection.verdict.behaviour), behaviour)


def size_by(cook: Cook) -> Callable[[Recipe], int]:
    """Return a function for the bytes of a recipe's case; 0 for an impossible recipe, which does not fire."""

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
    behaviour: Behaviour,
    over: Callable[[], bool] = lambda: False,
    shown: Callable[[Detection], None] = lambda detection: None,
) -> Callable[[Recipe], bool]:
    """Return a function that tells whether a recipe shows a behaviour.

    An impossible recipe does not. Once `over()`, no recipe does. shown: called with the detection.
    """

    def fires(recipe: Recipe) -> bool:
        if over():
            return False
        try:
            case = cook(recipe, 0)
        except (LookupError, ValueError):
            return False
        replayed = replay(target, oracles, [case], behaviour, over=over)
        if replayed.fired:
            shown(
                next(detection for detection in replayed.detections if shows(detection, behaviour))
            )
        return replayed.fired

    return fires
