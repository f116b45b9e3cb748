"""`barnabas fuzz run`: a campaign, with what it finds as it comes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.campaigns import Read, read_campaign
from barnabas.cli.fuzz.failures import reported
from barnabas.cli.fuzz.progress import Shown, shown
from barnabas.cli.fuzz.run_options import RunOptions
from barnabas.cli.fuzz.shrinking import Effort, make_smaller, share
from barnabas.cli.fuzz.targets import target as make_target
from barnabas.cli.fuzz.without import left_out
from barnabas.fuzz.campaigns.campaign import Campaign
from barnabas.fuzz.corpus.corpora import basis, kept_basis
from barnabas.fuzz.coverage.jacoco import Jacoco
from barnabas.fuzz.database.findings import CampaignRow, Findings, StoredCampaign
from barnabas.fuzz.engine.assembly import PreparedCampaign, prepare
from barnabas.fuzz.engine.guidance import GuidedTarget
from barnabas.fuzz.engine.line_counts import (
    ComparedTarget,
    CountingTarget,
    count_lines,
    what_valid_shows,
)
from barnabas.fuzz.engine.rounds import Batch, RoundEnded, RoundStarted, RunRound, run, run_range
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.report.reached_lines import in_words
from barnabas.fuzz.targets.target import CaseRunner, Target
from barnabas.trouble import FINDINGS, FINE, INTERRUPTED

FOREVER: Final = 10**15
"""Cases of a campaign that ends when its time is over."""

KEPT_S: Final = 1.0
"""Seconds after which what cases came to is kept, and shown."""


GUIDED_ROUND: Final = 200
"""Cases of a round with feedback, at most: what they reach is for the next one."""

_WORDS: Final = {"basis": "versions of the target"}


@reported
def fuzz_run(asked: RunOptions, output: Output | None = None) -> int:
    """Run a campaign from where its database says that it stands; returns the exit code. Raises Trouble."""
    output = output or Output()
    read, database = _read(asked)
    # a target that can't be meant is refused before there is a database of its campaign
    target = make_target(read.campaign.target, asked.own)
    if asked.coverage is not None:
        count_lines(target, guiding=asked.feedback)
    with (
        _database(database) as findings,
        shown(output, asked.as_json, findings) as progress,
        ExitStack() as stack,
    ):
        return _Run(asked, read, findings, progress, stack).run(target)


def _read(asked: RunOptions) -> tuple[Read, Path]:
    """Return the campaign, without what it is to leave out, and its database. Raises Trouble."""
    changes, broker = asked.changes, asked.apache.settings
    read = read_campaign(asked.campaign, changes, broker)
    database = asked.db or read.database
    if asked.without:
        changes["without"] = [*read.campaign.without, *left_out(database, asked.without)]
        read = read_campaign(asked.campaign, changes, broker)
    return read, database


@contextmanager
def _database(path: Path) -> Iterator[Findings]:
    """It, for writing; one that is new and has no campaign in the end is removed. Raises FindingsError."""
    new = empty = not path.exists()
    try:
        with Findings(path, write=True) as findings:
            try:
                yield findings
            finally:
                empty = new and not findings.campaigns()
    finally:
        if empty:
            path.unlink(missing_ok=True)


@dataclass(slots=True)
class _Run:
    """One run of a campaign: its cases are made, sent and kept, and what they found is made smaller."""

    asked: RunOptions
    read: Read
    findings: Findings
    progress: Shown
    stack: ExitStack
    over: threading.Event = field(default_factory=threading.Event)
    """Set when the time for cases is over."""
    spent: float = 0.0
    """Seconds that cases took."""

    def run(self, target: Target) -> int:
        """Run to the end; returns the exit code. Raises CannotRun."""
        campaign, progress = self.read.campaign, self.progress
        if self.asked.feedback:
            size = min(campaign.round, GUIDED_ROUND)
            campaign = campaign.model_copy(update={"round": size})
        progress.note(f"starting {campaign.target}")
        target = self.stack.enter_context(target)
        found, settings = self._assembled(campaign, target)
        kept = self.findings.campaign(self.read.name, target.name, settings, time.time())
        progress.begin(target, kept, len(found.corpus), campaign)
        finished = False
        try:
            self._cases(found, kept, target)
            self._shrink(found, kept, target)
            finished = True
        except KeyboardInterrupt:
            progress.note("interrupted: run the same command to continue behind what is kept")
        except CannotRun as problem:
            progress.close(self.spent, self.findings.path)
            goes_on = f"{problem}; the same command goes on at case {kept.done}"
            raise CannotRun(goes_on) from None
        progress.close(self.spent, self.findings.path)
        any_ = bool(self.findings.findings(kept.id))
        return FINDINGS if any_ else FINE if finished else INTERRUPTED

    def _assembled(
        self, campaign: Campaign, target: Target
    ) -> tuple[PreparedCampaign, dict[str, Any]]:
        """Return the campaign with all that it names, and its settings; where those are others than in the
        run before, that is said."""
        guides = {"coverage": "feedback"} if self.asked.feedback else {}
        name = (self.read.name, target.name)
        before = [one for one in self.findings.campaigns() if (one.name, one.target) == name]
        found = prepare(campaign, basis(target), self.read.folder)
        settings = {**found.settings, **guides}
        same = [one for one in before if _alike(one, settings)]
        if found.basis.role == "client" and same:
            # what a client asks for in its first seconds differs from run to run
            found = prepare(campaign, kept_basis(same[-1].settings["basis"]), self.read.folder)
            settings = {**found.settings, **guides}
        if before and settings not in [one.settings for one in before]:
            differ = [each for each in settings if _differs(before[-1], settings, each)]
            other = ", ".join(_WORDS.get(each, each) for each in differ)
            self.progress.note(f"other {other} than the run before: a new campaign")
        return found, settings

    @property
    def _for_shrinking(self) -> float | None:
        """Seconds that are put aside for shrinking; None: none are."""
        seconds = self.read.campaign.budget.seconds
        return share(seconds) if seconds and self.asked.shrink else None

    def _cases(self, found: PreparedCampaign, kept: StoredCampaign, target: Target) -> None:
        """Send cases until there are enough, or the time is over. Raises CannotRun."""
        campaign, progress = found.campaign, self.progress
        runs = (
            _counted(self.asked, found, target, kept, progress) if self.asked.coverage else target
        )
        run_round = self.stack.enter_context(_runner(self.asked, found, runs, kept, self.over))
        if not self.asked.spark.spark:
            found.maker({})  # maps all seeds, once, which may take longer than the budget is
        began = time.monotonic()
        timers = _timers(campaign.budget.seconds, self._for_shrinking, self.over, progress, target)
        try:
            for timer in timers:
                timer.start()
            last = campaign.budget.cases or FOREVER
            for event in run(run_round, kept, campaign.round, last, self.over.is_set):
                match event:
                    case RoundStarted():
                        progress.round(event)
                    case Batch():
                        progress.batch(event)
                    case RoundEnded():
                        progress.ended(event)
        finally:
            for timer in timers:
                timer.cancel()
            self.spent = time.monotonic() - began
            kept.spent(self.spent)
        if self.asked.coverage:
            progress.note("counting the lines that cases reached")
            kept.reached(cast(CountingTarget, target).reached())
            progress.note(in_words(self.findings.reached(kept.id)))

    def _shrink(self, found: PreparedCampaign, kept: StoredCampaign, target: Target) -> None:
        """Make findings smaller in the time that is left for it. Raises CannotRun."""
        seconds, left = found.campaign.budget.seconds, self._for_shrinking
        if left is not None and seconds and not self.over.is_set():
            left = max(left, seconds - self.spent)
        effort = Effort(self.asked.shrink, left)
        make_smaller(self.findings, kept.id, target, found.oracles, self.progress, effort)


def _differs(before: CampaignRow, settings: Mapping[str, Any], name: str) -> bool:
    return bool(before.settings.get(name) != settings.get(name))


def _alike(before: CampaignRow, settings: Mapping[str, Any]) -> bool:
    """Whether all is the same but what the target takes."""
    names = (before.settings.keys() | settings.keys()) - {"basis"}
    return not any(_differs(before, settings, name) for name in names)


def _counted(
    asked: RunOptions,
    found: PreparedCampaign,
    target: Target,
    kept: StoredCampaign,
    progress: Shown,
) -> CaseRunner:
    """The target, behind what counts; what valid messages reach is kept first."""
    counts = cast(CountingTarget, target)
    progress.note("counting the lines that valid messages reach")
    shows = what_valid_shows(target, found.corpus)
    if not kept.counted():
        kept.reached(counts.reached())
    counts.reset()
    runs: CaseRunner = target
    # a client says itself what each case reached
    if asked.feedback and target.role == "broker":
        assert isinstance(counts.meter, Jacoco)  # noqa: S101 (all that brokers have)
        counts.meter.since()
        runs = GuidedTarget(target, counts.meter.since, counts.meter.passed)
    return ComparedTarget(runs, shows)


def _timers(
    seconds: float | None,
    for_shrinking: float | None,
    over: threading.Event,
    progress: Shown,
    target: Target,
) -> list[threading.Timer]:
    """What ends the cases: when the time is up, or so long before it, if there is something to shrink."""
    if seconds is None:
        return []

    def early() -> None:
        if progress.to_shrink:
            _time_is_up(over, progress, target)

    timers = [threading.Timer(seconds, _time_is_up, (over, progress, target))]
    if for_shrinking is not None:
        timers.append(threading.Timer(seconds - for_shrinking, early))
    for timer in timers:
        timer.daemon = True
    return timers


def _time_is_up(over: threading.Event, progress: Shown, target: Target) -> None:
    """Said with what the target is at: one case that is looked at again may take longer than the budget."""
    if over.is_set():
        return
    over.set()
    doing = getattr(target, "doing", "")
    progress.note(f"time is up: finishing the cases under way{doing and f' ({doing})'}")


def _every(seconds: float) -> Callable[[], bool]:
    """Whether so many seconds are over since it last said so."""
    last = time.monotonic()

    def due() -> bool:
        nonlocal last
        now = time.monotonic()
        if now - last < seconds:
            return False
        last = now
        return True

    return due


def _runner(
    asked: RunOptions,
    found: PreparedCampaign,
    target: CaseRunner,
    kept: StoredCampaign,
    over: threading.Event,
) -> AbstractContextManager[RunRound]:
    if asked.spark.spark:
        from barnabas.cli.fuzz.spark import on_spark

        return on_spark(asked.spark, found, asked.own, kept)

    def here(numbers: range, energies: Mapping[str, int]) -> Iterator[Batch]:
        return run_range(
            target,
            found.maker(energies),
            found.oracles,
            numbers,
            over=over.is_set,
            due=_every(KEPT_S),
        )

    run_round: RunRound = here
    return nullcontext(run_round)
