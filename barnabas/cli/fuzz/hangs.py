"""Confirms hangs after a campaign's cases, when no other session runs; withdraws those that do not recur."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from barnabas.cli.fuzz.progress import CampaignProgress
from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import HUNG_AMONG_OTHERS, Observation
from barnabas.fuzz.database.findings import HUNG, Finding, Findings
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.engine.rounds import judge
from barnabas.fuzz.oracles.oracle import Oracle
from barnabas.fuzz.report.cause import groups
from barnabas.plural import plural

ATTEMPTS: Final = 3
"""Runs of a case at most: a hang may be a race, and a run without one takes a moment."""


def confirm_hangs(
    findings: Findings,
    campaign: int,
    run: Callable[[Sequence[Case]], Iterator[Observation]],
    oracles: Sequence[Oracle],
    progress: CampaignProgress,
    over: Callable[[], bool],
) -> None:
    """Run the case of each unconfirmed hang again; store that it recurred, or withdraw the finding.

    One hang of each cause comes first. Those that remain once `over()` wait until the campaign continues.

    Args:
        findings: The database.
        campaign: The number of the campaign.
        run: Runs cases, each alone in its process.
        oracles: The campaign's oracles.
        progress: Prints confirmed hangs.
        over: Returns True once the time is over.

    Raises:
        CannotRun: The target can't be started.
    """
    by_cause = [
        enumerate(finding for finding in group.findings if finding.to_confirm)
        for group in groups(findings.findings(campaign))
    ]
    turns = sorted((turn for cause in by_cause for turn in cause), key=lambda turn: turn[0])
    if not turns or over():
        return
    pending = {finding.first_case: finding for _, finding in turns}
    progress.note(f"running {plural(len(pending), 'case')} that hung again, with no other session")
    for _ in range(ATTEMPTS):
        cases = list(_cases(pending.values()))
        if not cases:
            return
        for observation in run(cases):
            finding = pending.get(observation.case.number)
            verdicts = judge(observation, oracles)
            if finding is not None and any(verdict.oracle == HUNG for verdict in verdicts):
                del pending[finding.first_case]
                findings.confirm(finding)
                progress.confirmed(finding, hangs=True)
            if over():
                return
    for case in cases:
        if case.number in pending:
            findings.withdraw(pending[case.number], HUNG_AMONG_OTHERS)
            progress.confirmed(pending[case.number], hangs=False)


def _cases(hanging: Iterable[Finding]) -> Iterator[Case]:
    """Yield the cases of findings, without those that another version of barnabas made."""
    for finding in hanging:
        with suppress(LookupError):
            yield cook(finding.recipe, finding.first_case)
