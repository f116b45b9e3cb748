"""`barnabas fuzz run`: runs a campaign and prints its findings at once."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.campaigns import CampaignFile, read_campaign
from barnabas.cli.fuzz.database import triggers
from barnabas.cli.fuzz.failures import reported
from barnabas.cli.fuzz.hangs import confirm_hangs
from barnabas.cli.fuzz.progress import CampaignProgress, campaign_progress
from barnabas.cli.fuzz.run_options import RunOptions
from barnabas.cli.fuzz.shrinking import Effort, make_smaller, share
from barnabas.cli.fuzz.targets import target as make_target
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
from barnabas.plural import plural
from barnabas.trouble import FINDINGS, FINE, INTERRUPTED

FOREVER: Final = 10**15
"""The number of cases of a campaign that has only a time limit."""

KEPT_S: Final = 1.0
"""Seconds after which the results of cases are stored and shown."""


MINIMUM: Final = 0.1
"""The share of a campaign's time that remains for cases if its preparation took longer."""

GUIDED_ROUND: Final = 200
"""The most cases of a round with feedback: the lines that they reach guide the next round."""

_WORDS: Final = {"basis": "versions of the target"}


@reported
def fuzz_run(options: RunOptions) -> int:
    """Run a campaign, continuing where its database ends; return the exit code. Raises Trouble."""
    output = Output()
    read, database = _read(options)
    # refuse an invalid target before the campaign has a database
    target = make_target(read.campaign.target, options.owned)
    if options.coverage is not None:
        count_lines(target, guiding=options.feedback)
    with (
        _database(database) as findings,
        campaign_progress(output, options.as_json, findings) as progress,
        ExitStack() as stack,
    ):
        return _Run(options, read, findings, progress, stack).run(target)


def _read(options: RunOptions) -> tuple[CampaignFile, Path]:
    """Return the campaign, without the triggers of `--without`, and its database's path."""
    changes, broker = options.changes, options.apache.settings
    read = read_campaign(options.campaign, changes, broker)
    database = options.db or read.database
    if options.without:
        changes["without"] = [*read.campaign.without, *triggers(database, options.without)]
        read = read_campaign(options.campaign, changes, broker)
    return read, database


@contextmanager
def _database(path: Path) -> Iterator[Findings]:
    """Open a database for writing.

    A new database that has no campaign at the end is removed. Raises FindingsError.
    """
    new = empty = not path.exists()
    try:
        with Findings(path, write=True) as findings:
            try:
                yield findings
            finally:
                empty = new and not findings.campaigns()
    finally:
        if empty:
            with suppress(OSError):  # where nothing can be removed, nothing could be made
                path.unlink(missing_ok=True)


@dataclass(slots=True)
class _Run:
    """A run of a campaign: its cases are sent and stored, its hangs are confirmed, its findings shrunk."""

    options: RunOptions
    read: CampaignFile
    findings: Findings
    progress: CampaignProgress
    stack: ExitStack
    over: threading.Event = field(default_factory=threading.Event)
    """Set when the time for cases is over."""
    spent: float = 0.0
    """Seconds that cases took."""
    began: float = field(default_factory=time.monotonic)
    """The moment from which the campaign's seconds count: the preparation of the target."""
    seconds: float | None = None
    """Seconds for cases and shrinking; None: unlimited."""

    def run(self, target: Target) -> int:
        """Run the campaign to its end; return the exit code. Raises CannotRun."""
        campaign, progress = self.read.campaign, self.progress
        if self.options.feedback:
            size = min(campaign.round, GUIDED_ROUND)
            campaign = campaign.model_copy(update={"round": size})
        installs = " (its first start installs it)" if target.role == "client" else ""
        progress.note(f"starting {campaign.target}{installs}")
        target = self.stack.enter_context(target)
        progress.note("reading the versions that it supports, and making messages")
        assembly, settings = self._assembled(campaign, target)
        stored = self.findings.campaign(self.read.name, target.name, settings, time.time())
        progress.begin(target, stored, len(assembly.corpus), campaign)
        finished = False
        try:
            self._cases(assembly, stored, target)
            self._settle(assembly, stored, target)
            finished = True
        except KeyboardInterrupt:
            progress.note("interrupted: run the same command to continue")
        except CannotRun as problem:
            progress.close(self.spent, self.findings.path)
            goes_on = f"{problem}; run the same command to continue at case {stored.done}"
            raise CannotRun(goes_on) from None
        progress.close(self.spent, self.findings.path)
        any_ = any(not finding.to_confirm for finding in self.findings.findings(stored.id))
        return FINDINGS if any_ else FINE if finished else INTERRUPTED

    def _assembled(
        self, campaign: Campaign, target: Target
    ) -> tuple[PreparedCampaign, dict[str, Any]]:
        """Return the campaign with its parts, and its settings.

        A note is printed if the settings differ from those of the last run.
        """
        guides = {"coverage": "feedback"} if self.options.feedback else {}
        name = (self.read.name, target.name)
        before = [row for row in self.findings.campaigns() if (row.name, row.target) == name]
        assembly = prepare(campaign, basis(target), self.read.folder)
        settings = {**assembly.settings, **guides}
        same = [row for row in before if _alike(row, settings)]
        if assembly.basis.role == "client" and same:
            # the first requests of a client differ from run to run
            assembly = prepare(campaign, kept_basis(same[-1].settings["basis"]), self.read.folder)
            settings = {**assembly.settings, **guides}
        if before and settings not in [row.settings for row in before]:
            differ = [each for each in settings if _differs(before[-1], settings, each)]
            other = ", ".join(_WORDS.get(each, each) for each in differ)
            self.progress.note(f"other {other} than the run before: a new campaign")
        return assembly, settings

    def _cases(self, assembly: PreparedCampaign, stored: StoredCampaign, target: Target) -> None:
        """Send cases until the budget is spent. Raises CannotRun."""
        campaign, progress = assembly.campaign, self.progress
        runs = (
            _counted(self.options, assembly, target, stored, progress)
            if self.options.coverage
            else target
        )
        run_round = self.stack.enter_context(
            _runner(self.options, assembly, runs, stored, self.over)
        )
        if not self.options.spark.spark:
            progress.note(f"mapping the fields of {plural(len(assembly.corpus), 'message')}")
            assembly.maker({})
        began = time.monotonic()
        prepared = began - self.began
        self.seconds = seconds = for_cases(campaign.budget.seconds, prepared)
        of_budget = f" of {campaign.budget.seconds:g} s" if campaign.budget.seconds else ""
        short = seconds is not None and seconds < prepared
        advice = f": {seconds:.0f} s remain, give more --seconds" if short else ""
        progress.note(f"prepared in {prepared:.1f} s{of_budget}{advice}")
        timers = _timers(seconds, self.options.shrink, self.over, progress, target)
        try:
            for timer in timers:
                timer.start()
            last = campaign.budget.cases or FOREVER
            for event in run(run_round, stored, campaign.round, last, self.over.is_set):
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
            stored.spent(self.spent)
        if self.options.coverage:
            progress.note("counting the lines that cases reached")
            stored.reached(cast(CountingTarget, target).reached())
            progress.note(in_words(self.findings.reached(stored.id)))

    def _settle(self, assembly: PreparedCampaign, stored: StoredCampaign, target: Target) -> None:
        """Confirm hangs and shrink findings in the remaining time. Raises CannotRun."""
        end = math.inf
        if self.seconds is not None:
            rest = 0.0 if self.over.is_set() else self.seconds - self.spent
            end = time.monotonic() + max(share(self.seconds), rest)
        confirm_hangs(
            *(self.findings, stored.id, getattr(target, "one_by_one", target.run)),
            *(assembly.oracles, self.progress),
            lambda: time.monotonic() >= end,
        )
        effort = Effort(self.options.shrink, end)
        make_smaller(self.findings, stored.id, target, assembly.oracles, self.progress, effort)


def for_cases(seconds: float | None, prepared: float) -> float | None:
    """Return the seconds for cases and shrinking: the budget without the preparation, a tenth at least.

    >>> for_cases(60.0, 7.0), for_cases(60.0, 300.0), for_cases(None, 7.0)
    (53.0, 6.0, None)
    """
    return None if seconds is None else max(seconds - prepared, MINIMUM * seconds)


def _differs(before: CampaignRow, settings: Mapping[str, Any], name: str) -> bool:
    return bool(before.settings.get(name) != settings.get(name))


def _alike(before: CampaignRow, settings: Mapping[str, Any]) -> bool:
    """Check that settings are equal, except for the versions of the target."""
    names = (before.settings.keys() | settings.keys()) - {"basis"}
    return not any(_differs(before, settings, name) for name in names)


def _counted(
    options: RunOptions,
    assembly: PreparedCampaign,
    target: Target,
    stored: StoredCampaign,
    progress: CampaignProgress,
) -> CaseRunner:
    """Return the target with counting of lines; first store the lines that valid messages reach."""
    counts = cast(CountingTarget, target)
    progress.note("counting the lines that valid messages reach")
    shows = what_valid_shows(target, assembly.corpus)
    if not stored.counted():
        stored.reached(counts.reached())
    counts.reset()
    runs: CaseRunner = target
    # clients report by themselves what each case reached
    if options.feedback and target.role == "broker":
        assert isinstance(counts.meter, Jacoco)  # noqa: S101 (all meters of brokers are)
        counts.meter.since()
        runs = GuidedTarget(target, counts.meter.since, counts.meter.passed)
    return ComparedTarget(runs, shows)


def _timers(
    seconds: float | None,
    shrink: int,
    over: threading.Event,
    progress: CampaignProgress,
    target: Target,
) -> list[threading.Timer]:
    """Return timers that end the cases.

    The cases end with the time, or earlier if there are hangs to confirm or findings to shrink.
    """
    if seconds is None:
        return []

    def early() -> None:
        if progress.to_confirm or (shrink and progress.to_shrink):
            _time_is_up(over, progress, target)

    timers = [
        threading.Timer(seconds, _time_is_up, (over, progress, target)),
        threading.Timer(seconds - share(seconds), early),
    ]
    for timer in timers:
        timer.daemon = True
    return timers


def _time_is_up(over: threading.Event, progress: CampaignProgress, target: Target) -> None:
    """End the cases, and print the target's activity: repeating one case may take longer than the budget."""
    if over.is_set():
        return
    over.set()
    doing = getattr(target, "doing", "")
    progress.note(f"time is up: finishing the cases under way{doing and f' ({doing})'}")


def _every(seconds: float) -> Callable[[], bool]:
    """Return a function that is True at most once in so many seconds."""
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
    options: RunOptions,
    assembly: PreparedCampaign,
    target: CaseRunner,
    stored: StoredCampaign,
    over: threading.Event,
) -> AbstractContextManager[RunRound]:
    if options.spark.spark:
        from barnabas.cli.fuzz.spark import on_spark

        return on_spark(options.spark, assembly, options.owned, stored)

    def here(numbers: range, energies: Mapping[str, int]) -> Iterator[Batch]:
        return run_range(
            target,
            assembly.maker(energies),
            assembly.oracles,
            numbers,
            over=over.is_set,
            due=_every(KEPT_S),
        )

    run_round: RunRound = here
    return nullcontext(run_round)
