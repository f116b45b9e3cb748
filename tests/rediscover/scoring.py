"""A campaign against an old release until its pairs score, each finding tried on the fixed release."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from barnabas.cli.fuzz.campaigns import CampaignFile, read_campaign
from barnabas.cli.fuzz.targets import target as make_target
from barnabas.fuzz.corpus.corpora import basis
from barnabas.fuzz.database.findings import Finding, Findings
from barnabas.fuzz.engine.assembly import PreparedCampaign, prepare
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.engine.replay import replay
from barnabas.fuzz.engine.rounds import Batch, run, run_range
from barnabas.fuzz.targets.target import Target
from tests.rediscover.pairs import Pair

CASES: Final = 20_000
"""Within which a pair must be found."""

SECONDS: Final = 600.0
"""Within which a pair must be found on an idle machine."""

ATTEMPTS: Final = 3
"""In which a finding must fire again on the old release, and in which it may not on the fixed one."""


@dataclass(slots=True)
class Score:
    """A pair: the number of the case at which it was found; None: it was not. also: how many other
    findings fire on the fixed release."""

    pair: Pair
    found_at: int | None = None
    finding: str = ""
    oracle: str = ""
    seconds: float = 0.0
    ran: int = 0
    also: int = 0
    reason: str = ""

    @property
    def scored(self) -> bool:
        """Whether it was found."""
        return self.found_at is not None


@dataclass(slots=True)
class Trial:
    """What is known of a campaign's findings: which fire on the old release alone."""

    old: Target
    oracles: Sequence[object]
    fixed: Callable[[], Target]
    tried: set[tuple[str, int]] = field(default_factory=set)
    """Names of findings, with the case that each was of: a later one may show it alone."""
    both: int = 0

    def only_old(self, finding: Finding, found: PreparedCampaign) -> bool:
        """Whether it replays on the old release and not on the fixed one."""
        self.tried.add((finding.name, finding.first_case))
        wanted = (finding.oracle, finding.behaviour)
        case = cook(finding.recipe, finding.first_case)
        if not replay(self.old, found.oracles, [case], wanted, ATTEMPTS).fired:
            return False
        again = replay(self.fixed(), found.oracles, [case], wanted, ATTEMPTS).fired
        self.both += again
        return not again


def score(
    pairs: Sequence[Pair],
    folder: Path,
    cases: int,
    say: Callable[[str], None],
    seconds: float = SECONDS,
) -> list[Score]:
    """Run a campaign against the release that has the bugs of these pairs, until all are found.

    It ends after this many cases or seconds, preparation included.

    Raises barnabas.trouble.Trouble, barnabas.fuzz.errors.CannotRun if a target can't be had.
    """
    first, end = pairs[0], time.monotonic() + seconds
    read = read_campaign(Path(first.campaign), {"target": first.old, "budget": {"cases": cases}})
    scores = {pair.name: Score(pair) for pair in pairs}
    with ExitStack() as stack:
        old = stack.enter_context(make_target(first.old, False))
        found = prepare(read.campaign, basis(old), read.folder)
        fixed: list[Target] = []

        def fixed_target() -> Target:
            if not fixed:
                fixed.append(stack.enter_context(make_target(first.fixed, False)))
            return fixed[0]

        trial = Trial(old, found.oracles, fixed_target)
        database = folder / f"{first.old.replace(':', '-').replace('/', '-')}.fuzz.db"
        findings = stack.enter_context(Findings(database, write=True))
        _campaign(read, found, trial, findings, scores, say, end)
    return list(scores.values())


def _campaign(
    read: CampaignFile,
    found: PreparedCampaign,
    trial: Trial,
    findings: Findings,
    scores: Mapping[str, Score],
    say: Callable[[str], None],
    end: float,
) -> None:
    kept = findings.campaign(read.name, trial.old.name, found.settings, time.time())
    began, begun_at = time.monotonic(), kept.done

    def run_round(numbers: range, energies: Mapping[str, int]) -> Iterator[Batch]:
        return run_range(trial.old, found.maker(energies), found.oracles, numbers)

    last = read.campaign.budget.cases or CASES
    over = lambda: (  # noqa: E731
        time.monotonic() > end or all(one.scored for one in scores.values())
    )
    for event in run(run_round, kept, read.campaign.round, last, over):
        if not isinstance(event, Batch):
            continue
        unsent = sum(row.cases for row in findings.aside(kept.id))
        rate = (event.end - begun_at) / (time.monotonic() - began)
        say(
            f"{trial.old.name}: {event.end} cases, {unsent} of them not sent, {rate:.1f} a second, "
            f"{len(trial.tried)} findings tried"
        )
        for finding in sorted(findings.findings(kept.id), key=lambda each: each.first_case):
            if (finding.name, finding.first_case) in trial.tried:
                continue
            wanted = [one for one in scores.values() if not one.scored and one.pair.is_it(finding)]
            if wanted and trial.only_old(finding, found):
                _scored(wanted[0], finding, time.monotonic() - began)
                say(f"{wanted[0].pair.name}: {finding.name} at case {finding.first_case}")
    for one in scores.values():
        one.ran, one.also = kept.done, trial.both


def _scored(score: Score, finding: Finding, seconds: float) -> None:
    score.found_at = finding.first_case
    score.finding, score.oracle, score.seconds = finding.name, finding.oracle, seconds
