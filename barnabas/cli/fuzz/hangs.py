"""Confirms hangs after a campaign's cases, when no other session runs; withdraws those that do not recur."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from barnabas.cli.fuzz.progress import CampaignProgress
from barnabas.fuzz.cases.observation import HUNG_AMONG_OTHERS
from barnabas.fuzz.database.findings import Finding, Findings
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.engine.rounds import judge
from barnabas.fuzz.oracles.oracle import Oracle
from barnabas.fuzz.report.cause import groups
from barnabas.fuzz.targets.target import Target
from barnabas.plural import plural

ATTEMPTS: Final = 3
"""Runs of a case at most: a hang may be a race, and a run without one takes a moment."""

AT_ONCE: Final = 2 * (os.cpu_count() or 1)
"""Cases that run at a time, each alone in its process: clients that hang mostly wait."""


def confirm_hangs(
    findings: Findings,
    campaign: int,
    target: Target,
    oracles: Sequence[Oracle],
    progress: CampaignProgress,
    over: Callable[[], bool],
) -> None:
    """Run the case of each unconfirmed hang again; store that it recurred, or withdraw the finding.

    One hang of each cause comes first. Those that remain once `over()` wait until the campaign continues.
    Raises CannotRun.
    """
    by_cause = [
        enumerate(finding for finding in group.findings if finding.to_confirm)
        for group in groups(findings.findings(campaign))
    ]
    turns = sorted((turn for cause in by_cause for turn in cause), key=lambda turn: turn[0])
    if not turns:
        return
    progress.note(f"running {plural(len(turns), 'case')} that hung again, with no other session")
    # only `together` gives each case a process
    at_once = AT_ONCE if hasattr(target, "together") else 1

    def again(finding: Finding) -> bool | None:
        try:
            return None if over() else _hangs(target, oracles, finding)
        except LookupError:  # another version of barnabas made the recipe
            return None

    with ThreadPoolExecutor(at_once) as threads:
        hanging = [finding for _, finding in turns]
        for finding, hangs in zip(hanging, threads.map(again, hanging), strict=True):
            if hangs is None:
                continue
            if hangs:
                findings.confirm(finding)
            else:
                findings.withdraw(finding, HUNG_AMONG_OTHERS)
            progress.confirmed(finding, hangs=hangs)


def _hangs(target: Target, oracles: Sequence[Oracle], finding: Finding) -> bool:
    """Return whether the finding's case hangs the client; a hang that computes may now wait."""
    case = cook(finding.recipe, finding.first_case)
    run = getattr(target, "together", target.run)
    return any(
        verdict.oracle == finding.oracle
        for _ in range(ATTEMPTS)
        for observation in run([case])
        for verdict in judge(observation, oracles)
    )
