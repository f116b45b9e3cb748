"""`barnabas fuzz run`: a campaign, with what it finds as it comes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.campaigns import Read
from barnabas.cli.fuzz.progress import Shown, shown
from barnabas.cli.fuzz.shrinking import make_smaller, share
from barnabas.cli.fuzz.targets import target as make_target
from barnabas.endings import interruptible
from barnabas.fuzz.corpus.corpora import basis, kept_basis
from barnabas.fuzz.coverage.jacoco import Jacoco
from barnabas.fuzz.database.findings import CampaignRow, Findings, FindingsError, Kept
from barnabas.fuzz.engine.assembling import Assembled, assembled
from barnabas.fuzz.engine.counting import Compared, Counts, counting, what_valid_shows
from barnabas.fuzz.engine.guiding import Guided
from barnabas.fuzz.engine.running import Batch, Began, Ended, RunRound, run, run_range
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.report.reached import in_words
from barnabas.fuzz.targets.target import Runs, Target
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, INTERRUPTED, Trouble

FOREVER: Final = 10**15
"""Cases of a campaign that ends when its time is over."""

KEPT_S: Final = 1.0
"""Seconds after which what cases came to is kept, and shown."""


GUIDED_ROUND: Final = 200
"""Cases of a round with feedback, at most: what they reach is for the next one."""

Coverage = Literal["report", "feedback"]
"""What counted lines are for: the report, or to choose what cases are made of, too."""


class Wanted(NamedTuple):
    """What the command line asked for. shrink: runs for each finding. coverage: what lines are counted for;
    None: they are not. spark: a master's URL; "" is here on all cores; None: no Spark."""

    read: Read
    database: Path
    own: bool = False
    shrink: int = 100
    coverage: Coverage | None = None
    as_json: bool = False
    spark: str | None = None
    settings: Mapping[str, str] = {}


def fuzz_run(wanted: Wanted, output: Output | None = None) -> int:
    """Run a campaign from where its database says that it stands; returns the exit code. Raises Trouble."""
    output = output or Output()
    try:
        with interruptible():
            # a target that can't be meant is refused before there is a database of its campaign
            target = make_target(wanted.read.campaign.target, wanted.own)
            if wanted.coverage is not None:
                counting(target, guiding=wanted.coverage == "feedback")
            with _database(wanted.database) as findings:
                return _run(wanted, findings, target, output)
    except Misuse as problem:
        raise Trouble(str(problem)) from None
    except FindingsError as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None
    except CannotRun as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None
    except KeyboardInterrupt:  # before the first case, or while the target ends
        output.note("interrupted")
        return INTERRUPTED


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


def _run(wanted: Wanted, findings: Findings, target: Target, output: Output) -> int:
    read = wanted.read
    campaign = read.campaign
    if wanted.coverage == "feedback":
        size = min(campaign.round, GUIDED_ROUND)
        campaign = campaign.model_copy(update={"round": size})
    with ExitStack() as stack:
        progress = stack.enter_context(shown(output, wanted.as_json, findings))
        progress.note(f"starting {campaign.target}")
        target = stack.enter_context(target)
        guides = {"coverage": "feedback"} if wanted.coverage == "feedback" else {}
        before = [
            one
            for one in findings.campaigns()
            if (one.name, one.target) == (read.name, target.name)
        ]
        found = assembled(campaign, basis(target), read.folder)
        settings = {**found.settings, **guides}
        if found.basis.role == "client" and (
            same := [one for one in before if _alike(one, settings)]
        ):
            # what a client asks for in its first seconds differs from run to run
            found = assembled(campaign, kept_basis(same[-1].settings["basis"]), read.folder)
            settings = {**found.settings, **guides}
        if before and settings not in [one.settings for one in before]:
            other = [
                _WORDS.get(name, name) for name in settings if _differs(before[-1], settings, name)
            ]
            progress.note(f"other {', '.join(other)} than the run before: a new campaign")
        kept = findings.campaign(read.name, target.name, settings, time.time())
        last = campaign.budget.cases or FOREVER
        progress.begin(target, kept, len(found.corpus), campaign)
        over = threading.Event()
        runs = _counted(wanted, found, target, kept, progress) if wanted.coverage else target
        run_round = stack.enter_context(_runner(wanted, found, runs, kept, over))
        if wanted.spark is None:
            found.maker({})  # maps all seeds, once, which may take longer than the budget is
        began = time.monotonic()
        seconds = campaign.budget.seconds
        for_shrinking = share(seconds) if seconds and wanted.shrink else None
        timers = _timers(seconds, for_shrinking, over, progress, target)
        finished, spent = False, 0.0
        try:
            try:
                for timer in timers:
                    timer.start()
                for event in run(run_round, kept, campaign.round, last, over.is_set):
                    match event:
                        case Began():
                            progress.round(event)
                        case Batch():
                            progress.batch(event)
                        case Ended():
                            progress.ended(event)
            finally:
                for timer in timers:
                    timer.cancel()
                spent = time.monotonic() - began
                kept.spent(spent)
            if wanted.coverage:
                progress.note("counting the lines that cases reached")
                kept.reached(cast(Counts, target).reached())
                progress.note(in_words(findings.reached(kept.id)))
            if for_shrinking is not None and seconds and not over.is_set():
                for_shrinking = max(for_shrinking, seconds - spent)
            make_smaller(
                findings, kept.id, target, found.oracles, progress,
                runs=wanted.shrink, seconds=for_shrinking,
            )  # fmt: skip
            finished = True
        except KeyboardInterrupt:
            progress.note("interrupted: run the same command to continue behind what is kept")
        except CannotRun as problem:
            progress.close(spent, wanted.database)
            goes_on = f"{problem}; the same command goes on at case {kept.done}"
            raise CannotRun(goes_on) from None
        progress.close(spent, wanted.database)
    any_ = bool(findings.findings(kept.id))
    return FINDINGS if any_ else FINE if finished else INTERRUPTED


_WORDS: Final = {"basis": "versions of the target"}


def _differs(before: CampaignRow, settings: Mapping[str, Any], name: str) -> bool:
    return bool(before.settings.get(name) != settings.get(name))


def _alike(before: CampaignRow, settings: Mapping[str, Any]) -> bool:
    """Whether all is the same but what the target takes."""
    names = (before.settings.keys() | settings.keys()) - {"basis"}
    return not any(_differs(before, settings, name) for name in names)


def _counted(wanted: Wanted, found: Assembled, target: Target, kept: Kept, progress: Shown) -> Runs:
    """The target, behind what counts; what valid messages reach is kept first."""
    counts = cast(Counts, target)
    progress.note("counting the lines that valid messages reach")
    shows = what_valid_shows(target, found.corpus)
    if not kept.counted():
        kept.reached(counts.reached())
    counts.anew()
    runs: Runs = target
    # a client says itself what each case reached
    if wanted.coverage == "feedback" and target.role == "broker":
        assert isinstance(counts.meter, Jacoco)  # noqa: S101 (all that brokers have)
        counts.meter.since()
        runs = Guided(target, counts.meter.since, counts.meter.passed)
    return Compared(runs, shows)


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
    wanted: Wanted, found: Assembled, target: Runs, kept: Kept, over: threading.Event
) -> AbstractContextManager[RunRound]:
    if wanted.spark is not None:
        from barnabas.cli.fuzz.spark import on_spark

        return on_spark(wanted.spark, wanted.settings, found, wanted.own, kept)

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
