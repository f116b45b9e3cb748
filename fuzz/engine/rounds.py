"""The rounds of a campaign: cases of a range of numbers, run and judged. No output, clock or database.

A campaign is rounds of case numbers. Within a round a case is a function of (seed, the round's energies,
number), so a round may be cut into batches or shards in any way.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.engine.features import features
from barnabas.fuzz.engine.stats import Judged, Stats
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.oracles.oracle import Oracle, Verdict
from barnabas.fuzz.targets.target import CaseRunner


class CaseSource(Protocol):
    """Makes the cases of numbers."""

    def cases(self, numbers: range) -> Sequence[Case]:
        """Return the cases, in order."""


class RoundStarted(NamedTuple):
    """A round begins or continues: its number, the cases still to run, its energies."""

    round: int
    numbers: range
    energies: Mapping[str, int]


class Batch(NamedTuple):
    """Cases up to a number (excluded) that were run and stored."""

    end: int
    stats: Stats


class RoundEnded(NamedTuple):
    """A round is over; news: how many features were new in the campaign."""

    round: int
    news: int


Event = RoundStarted | Batch | RoundEnded


class CampaignStore(Protocol):
    """The progress and results of a campaign: a database, or a test's stand-in."""

    @property
    def done(self) -> int:
        """Return the number of cases that were run, from number 0."""

    def energies(self, number: int) -> Mapping[str, int]:
        """Return the energies of a round: none for the first, else those that `end_round` made."""

    def keep(self, stats: Stats, end: int, number: int) -> None:
        """Store the results of a round's cases up to a case number, in one transaction."""

    def end_round(self, number: int) -> int:
        """Store the energies of the following round; return how many features were new."""


def judge(observation: Observation, oracles: Sequence[Oracle]) -> tuple[Verdict, ...]:
    """Return what the oracles find wrong with an observation."""
    return tuple(verdict for oracle in oracles for verdict in oracle.judge(observation))


def judge_all(observations: Iterable[Observation], oracles: Sequence[Oracle]) -> Iterator[Judged]:
    """Yield each observation with its features and verdicts. The oracles must be for the target's role."""
    for observation in observations:
        yield Judged(observation, features(observation), judge(observation, oracles))


def run_range(
    target: CaseRunner,
    maker: CaseSource,
    oracles: Sequence[Oracle],
    numbers: range,
    over: Callable[[], bool] = lambda: False,
    due: Callable[[], bool] = lambda: False,
) -> Iterator[Batch]:
    """Run the cases of these numbers, in batches of the size that the target prefers.

    A batch ends early after the case at which `over()` returns True, or after the cases in flight if the
    target has `run_until`. Part of a batch is yielded after each case at which `due()` returns True, on
    KeyboardInterrupt, and if the target can't continue (CannotRun).
    """
    run_until = getattr(target, "run_until", None)
    end = numbers.start
    while end < numbers.stop:
        stop = min(end + target.at_once, numbers.stop)
        stats = Stats()
        cases = maker.cases(range(end, stop))
        try:
            observations = target.run(cases) if run_until is None else run_until(cases, over)
            for judgement in judge_all(observations, oracles):
                if judgement.number >= end:  # observations of earlier culprits come later
                    if judgement.number > cases[0].number and over() and run_until is None:
                        break
                    if stats.cases and due():
                        yield Batch(end, stats)
                        stats = Stats()
                    stats.run(judgement.observation.case)
                    end = judgement.number + 1
                stats.add(judgement)
            else:
                end = stop if run_until is None or not over() else end
        except (KeyboardInterrupt, CannotRun):
            yield Batch(end, stats)
            raise
        yield Batch(end, stats)
        if end < stop:
            return


RunRound = Callable[[range, Mapping[str, int]], Iterator[Batch]]
"""Runs cases of a round with its energies: here (`run_range`), or on Spark."""


def run(
    run_round: RunRound,
    keeps: CampaignStore,
    round_size: int,
    last: int,
    over: Callable[[], bool] = lambda: False,
) -> Generator[Event, None, None]:
    """Run a campaign from its current number until `last` cases are run, or until `over()` between batches.

    Every batch is stored before its event is yielded, so an interrupted campaign continues after it.
    """
    while keeps.done < last and not over():
        number = keeps.done // round_size
        numbers = range(keeps.done, min((number + 1) * round_size, last))
        energies = keeps.energies(number)
        yield RoundStarted(number, numbers, energies)
        for batch in run_round(numbers, energies):
            keeps.keep(batch.stats, batch.end, number)
            yield batch
            if over():
                break
        if keeps.done == (number + 1) * round_size:
            yield RoundEnded(number, keeps.end_round(number))
