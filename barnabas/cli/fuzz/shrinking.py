"""Shrinks the findings of a campaign after its cases; only one finding per root cause is shrunk."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from barnabas.cli.fuzz.progress import CampaignProgress
from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.database.findings import Finding, Findings
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.engine.replay import fires_on, replay, size_by
from barnabas.fuzz.engine.stats import Behaviour, Detection
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.observations.case_labels import recipe_labels
from barnabas.fuzz.oracles.oracle import Oracle
from barnabas.fuzz.report.cause import groups, representative
from barnabas.fuzz.shrinking.search import shrink
from barnabas.fuzz.targets.target import Target
from barnabas.plural import plural

SHRINKING_S: Final = 30.0
"""The most seconds for shrinking a finding."""

SHARE: Final = 0.2
"""The largest share of a campaign's time for shrinking."""


def share(seconds: float) -> float:
    """Return the seconds of a campaign's time that are reserved for confirming hangs and for shrinking."""
    return min(SHARE * seconds, SHRINKING_S)


class Effort(NamedTuple):
    """The limits of shrinking."""

    runs: int
    """The most runs of the target for each finding."""
    end: float
    """The moment (`time.monotonic`) at which shrinking ends; inf: unlimited."""


def make_smaller(
    findings: Findings,
    campaign: int,
    target: Target,
    oracles: Sequence[Oracle],
    progress: CampaignProgress,
    effort: Effort,
) -> None:
    """Shrink the findings that were not shrunk yet; the rest waits until the campaign continues.

    A finding that crashed a target which can't be restarted stays as it is. Raises CannotRun.
    """
    runs, end = effort
    causes = groups(findings.findings(campaign))
    fresh = [
        (finding, group)
        for group in causes
        if (finding := representative(group)) and finding.to_shrink
    ]
    if not (fresh and runs):
        return
    seconds = end - time.monotonic()
    limit = (
        f"{SHRINKING_S:.0f} s each" if seconds == math.inf else f"{max(seconds, 0):.2g} s in all"
    )
    progress.note(f"shrinking {plural(len(fresh), 'finding')}: at most {limit}")
    renew: Callable[[], None] | None = getattr(target, "reset", None)
    anew = [renew] if renew is not None and target.role == "broker" else []
    for number, (finding, group) in enumerate(fresh, 1):
        now = time.monotonic()
        if now >= end:
            break
        deadline = min(end, now + SHRINKING_S)
        progress.shrinking(finding, number, len(fresh))
        over = _over(deadline)
        try:
            smaller, observed = _smaller(finding, target, oracles, runs, over, anew)
            # store an unchanged recipe, too, or each continued run would try to shrink it again
            findings.smaller(finding, smaller, observed)
            others = [
                each
                for each in group.findings
                if each is not finding and each.to_shrink and _same_field(each, finding)
            ]
            if others and smaller != finding.recipe and not over():
                for other, other_observation in _shown_by(smaller, others, target, oracles, over):
                    findings.smaller(other, smaller, other_observation)
        except CannotRun:  # store it as shrunk: the same command must not try it again
            findings.smaller(finding, finding.recipe)
            raise


def _over(deadline: float) -> Callable[[], bool]:
    return lambda: time.monotonic() >= deadline


def _same_field(first: Finding, second: Finding) -> bool:
    """Return whether two findings are of one field: those of others each keep their own case."""
    return recipe_labels(first.recipe) == recipe_labels(second.recipe)


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
    """Shrink the recipe of a finding; return it with its observation, or None if nothing could be removed.

    Candidates run one after the other, since several at once take a broker as long. anew: At most one
    function that restarts the target; the state that a campaign left may keep a case from firing.
    """
    observed: deque[Detection] = deque(maxlen=1)
    fires = fires_on(target, oracles, cook, _behaviour(finding), over, observed.append)
    while anew and not fires(finding.recipe) and not over():
        anew.pop()()
    smaller = shrink(finding.recipe, fires, runs=runs, size=size_by(cook)).recipe
    if smaller == finding.recipe:
        return smaller, None
    return _as_first(finding, observed.pop())


def _as_first(finding: Finding, observed: Detection) -> tuple[Recipe, Detection]:
    """Return a recipe and its observation with the number of the finding's first case."""
    case = cook(observed.observation.case.recipe, finding.first_case)
    return case.recipe, Detection(observed.verdict, replace(observed.observation, case=case))


def _shown_by(
    recipe: Recipe,
    findings: Sequence[Finding],
    target: Target,
    oracles: Sequence[Oracle],
    over: Callable[[], bool],
) -> list[tuple[Finding, Detection]]:
    """Return the findings that a case shows, each with its observation.

    For example, an exception in the log and the error in the response are two findings of one case.
    """
    case = cook(recipe, 0)
    observed = replay(target, oracles, [case], _behaviour(findings[0]), over=over).detections
    by_behaviour = {(each.verdict.oracle, each.verdict.behaviour): each for each in observed}
    return [
        (each, _as_first(each, by_behaviour[_behaviour(each)])[1])
        for each in findings
        if _behaviour(each) in by_behaviour
    ]
