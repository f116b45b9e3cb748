"""The engine: cases of a range of numbers, run and judged. No output, no clock of its own, no database.

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
from barnabas.fuzz.targets.target import Runs


class Makes(Protocol):
    """Makes the cases of numbers."""

    def cases(self, numbers: range) -> Sequence[Case]:
        """They, in order."""


class Began(NamedTuple):
    """A round begins, or goes on: its number, its cases that are still to be run, its energies."""

    round: int
    numbers: range
    energies: Mapping[str, int]


class Batch(NamedTuple):
    """Cases up to this number (excluded) are run and kept."""

    end: int
    stats: Stats


class Ended(NamedTuple):
    """A round is over, and how many features it reached that nobody had reached before."""

    round: int
    news: int


Event = Began | Batch | Ended


class Keeps(Protocol):
    """Where a campaign stands, and what it came to: a database, or what a test has in its place."""

    @property
    def done(self) -> int:
        """Cases that are run, from number 0."""

    def energies(self, number: int) -> Mapping[str, int]:
        """The energies of a round: of the first none, of others what `end_round` made."""

    def keep(self, stats: Stats, end: int, number: int) -> None:
        """Keep what cases of a round came to, up to a case number, in one transaction."""

    def end_round(self, number: int) -> int:
        """Keep the energies of the round behind this one; returns how many features were new."""


def judge(observation: Observation, oracles: Sequence[Oracle]) -> tuple[Verdict, ...]:
    """What is wrong with it."""
    return tuple(verdict for oracle in oracles for verdict in oracle.judge(observation))


def judged(seen: Iterable[Observation], oracles: Sequence[Oracle]) -> Iterator[Judged]:
    """What is wrong with each. The oracles must be for the target's role."""
    for observation in seen:
        yield Judged(observation, features(observation), judge(observation, oracles))


def run_range(
    target: Runs,
    maker: Makes,
    oracles: Sequence[Oracle],
    numbers: range,
    over: Callable[[], bool] = lambda: False,
    due: Callable[[], bool] = lambda: False,
) -> Iterator[Batch]:
    """Run cases of these numbers in batches of as many at once as the target likes best.

    A batch ends early behind the case after which `over()`, or behind those under way if the target can
    `run_until` it is; what there is of one is yielded behind each case after which it is `due()`, when
    somebody interrupts it, and when the target can't go on (CannotRun).
    """
    run_until = getattr(target, "run_until", None)
    end = numbers.start
    while end < numbers.stop:
        stop = min(end + target.at_once, numbers.stop)
        stats = Stats()
        cases = maker.cases(range(end, stop))
        try:
            seen = target.run(cases) if run_until is None else run_until(cases, over)
            for one in judged(seen, oracles):
                if one.number >= end:  # those of earlier cases to blame come behind
                    if one.number > cases[0].number and over() and run_until is None:
                        break
                    if stats.cases and due():
                        yield Batch(end, stats)
                        stats = Stats()
                    stats.run(one.observation.case)
                    end = one.number + 1
                stats.add(one)
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
    keeps: Keeps,
    round_size: int,
    last: int,
    over: Callable[[], bool] = lambda: False,
) -> Generator[Event, None, None]:
    """Run a campaign from where it stands until `last` cases are run, or until `over()` between
    batches. Every batch is kept before its event is seen: what is interrupted goes on behind it.
    """
    while keeps.done < last and not over():
        number = keeps.done // round_size
        numbers = range(keeps.done, min((number + 1) * round_size, last))
        energies = keeps.energies(number)
        yield Began(number, numbers, energies)
        for batch in run_round(numbers, energies):
            keeps.keep(batch.stats, batch.end, number)
            yield batch
            if over():
                break
        if keeps.done == (number + 1) * round_size:
            yield Ended(number, keeps.end_round(number))
