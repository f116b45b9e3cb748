"""Makes the findings of a campaign smaller, behind its cases: of those of one cause one stands for all."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from barnabas.cli.fuzz.progress import Shown
from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.database.findings import Finding, Findings
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.engine.replay import fires_on, replay, size_by
from barnabas.fuzz.engine.stats import Behaviour, Detection
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.oracles.oracle import Oracle
from barnabas.fuzz.report.cause import groups, representative
from barnabas.fuzz.shrinking.search import shrink
from barnabas.fuzz.targets.target import Target
from barnabas.plural import plural

SHRINKING_S: Final = 30.0
"""Seconds that a finding may take to become smaller."""

SHARE: Final = 0.2
"""Of the time that a campaign has, and no more than that."""


def share(seconds: float) -> float:
    """Seconds of a campaign's that are for shrinking, if something is found."""
    return min(SHARE * seconds, SHRINKING_S)


class Effort(NamedTuple):
    """How much shrinking may take."""

    runs: int
    """Of the target, for each finding."""
    seconds: float | None
    """For all together."""


def make_smaller(
    findings: Findings,
    campaign: int,
    target: Target,
    oracles: Sequence[Oracle],
    progress: Shown,
    effort: Effort,
) -> None:
    """Shrink what is not smaller yet; what remains is left until the campaign goes on.

    What ended a target that nobody here can start again is left as it is. Raises CannotRun.
    """
    runs, seconds = effort
    found = groups(findings.findings(campaign))
    fresh = [(one, group) for group in found if (one := representative(group)) and one.to_shrink]
    if not (fresh and runs):
        return
    limit = f"{SHRINKING_S:.0f} s each" if seconds is None else f"{seconds:.2g} s in all"
    progress.note(f"shrinking {plural(len(fresh), 'finding')}: at most {limit}")
    last = None if seconds is None else time.monotonic() + seconds
    renew: Callable[[], None] | None = getattr(target, "reset", None)
    anew = [renew] if renew is not None and target.role == "broker" else []
    for number, (one, group) in enumerate(fresh, 1):
        now = time.monotonic()
        if last is not None and now >= last:
            break
        deadline = now + SHRINKING_S if last is None else min(last, now + SHRINKING_S)
        progress.shrinking(one, number, len(fresh))
        over = _over(deadline)
        try:
            smaller, shown = _smaller(one, target, oracles, runs, over, anew)
            # what is as small as it was is kept, too, or it would be tried whenever the campaign goes on
            findings.smaller(one, smaller, shown)
            others = [each for each in group.findings if each is not one and each.to_shrink]
            if others and smaller != one.recipe and not over():
                for other, also in _shown_by(smaller, others, target, oracles, over):
                    findings.smaller(other, smaller, also)
        except CannotRun:  # nor is it tried again by the same command
            findings.smaller(one, one.recipe)
            raise


def _over(deadline: float) -> Callable[[], bool]:
    return lambda: time.monotonic() >= deadline


def _behaviour(finding: Finding) -> Behaviour:
    return finding.oracle, finding.behaviour


def _smaller(
    finding: Finding,
    target: Target,
    oracles: Sequence[Oracle],
    runs: int,
    over: Callable[[], bool],
    anew: list[Callable[[], None]],
) -> tuple[Recipe, Detection | None]:
    """Its recipe made smaller, and what that came to; None: it is the same. One candidate after the other:
    several side by side take a broker as long. anew: has a target as it was at its start, once; what a
    campaign left behind may keep all from firing."""
    shown: deque[Detection] = deque(maxlen=1)
    fires = fires_on(target, oracles, cook, _behaviour(finding), over, shown.append)
    while anew and not fires(finding.recipe) and not over():
        anew.pop()()
    smaller = shrink(finding.recipe, fires, runs=runs, size=size_by(cook)).recipe
    if smaller == finding.recipe:
        return smaller, None
    return _as_first(finding, shown.pop())


def _as_first(finding: Finding, found: Detection) -> tuple[Recipe, Detection]:
    """What a case came to, with the number of a finding's first one."""
    case = cook(found.observation.case.recipe, finding.first_case)
    return case.recipe, Detection(found.verdict, replace(found.observation, case=case))


def _shown_by(
    recipe: Recipe,
    findings: Sequence[Finding],
    target: Target,
    oracles: Sequence[Oracle],
    over: Callable[[], bool],
) -> list[tuple[Finding, Detection]]:
    """Those that a case shows, too: an exception in a log, and the error that it is answered with."""
    case = cook(recipe, 0)
    found = replay(target, oracles, [case], _behaviour(findings[0]), over=over).detections
    shown = {(one.verdict.oracle, one.verdict.behaviour): one for one in found}
    return [
        (one, _as_first(one, shown[_behaviour(one)])[1])
        for one in findings
        if _behaviour(one) in shown
    ]
