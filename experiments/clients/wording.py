"""Descriptions of a cell: in the table, next to it, and in full."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final, Literal

from barnabas.experiments.clients.cell import Cell
from barnabas.experiments.clients.draws import Draw, features
from barnabas.experiments.clients.trial import Trial
from barnabas.experiments.clients.verdict import LABELS, Observation, Verdict, Word
from barnabas.experiments.clients.workloads import Workload

UNJUDGED: Final = ("not met", "not run")

UNEXPECTED: Final = "unexpected"
"""The text of a cell in which a client broke a promise."""

EXPECTED_FAILURE: Final = "expected failure"
"""The text of a cell in which the application got an error that it may get."""

UNSTABLE: Final = "unstable"
"""The mark of a cell whose runs differ."""

UNSTABLE_MEANING: Final = "the runs of the cell differ, by their traffic or by chance"

MEANINGS: Final[dict[Word, str]] = {
    "fine": "the client kept its promises, at most 5 s later than the fault itself takes",
    "slow": "the client kept its promises, but later, by the time in parentheses",
    "duplicates": "a record is in the log, or was read, more than once",
    "lost": "the log lacks a record that the client reported as written",
    "uncommitted": "the brokers lack an offset that the client reported as committed",
    "reordered": "records are in another order than they were sent or written in",
    "skipped": "a consumer skipped records",
    "aborted seen": "a consumer of committed records got others",
    "misplaced": "the log has something else at the offset that the client reported",
    "phantom": "the log has, or a consumer got, a record that nobody sent",
    "failed yet written": "the log has a record that the client reported as failed",
    "breaks the protocol": "the client violated the protocol, on exchanges that no rule touched",
    "fails": "the client raised an error; `healthy` of the scenario says whether it should",
    "stuck": "the client waited until the run's time was up",
    "died": "the client's process ended",
    "not met": "the rules that are the point of the scenario did not fire: the cell shows nothing",
    "not run": "the client is unavailable, lacks the workload, or fails without faults; if it loses "
    "records without faults, its cell `none` is unexpected",
}
"""The observations that each verdict stands for."""


def cell_text(cell: Cell) -> str:
    """Describe a cell in a few words.

    >>> made = {"client": "c", "workload": "w", "scenario": "s", "broker": "embedded"}
    >>> cell_text(Cell(**made, verdict=Verdict(word="duplicates", times=2, of=3, promised=False)))
    'unstable: duplicates 2 of 3 (not promised)'
    >>> cell_text(Cell(**made, verdict=Verdict(word="fails", times=3, of=3, promised=False)))
    'expected failure'
    >>> cell_text(Cell(**made, verdict=Verdict(word="slow", times=1, of=3, slower_ms=5000, busy=True)))
    'unstable: slow 1 of 3 (+5.0 s, busy machine)'
    >>> fails = Observation(word="fails", times=1, promised=False)
    >>> cell_text(Cell(**made, verdict=Verdict(word="lost", times=3, of=3, also=(fails,))))
    'unexpected, unstable: lost; expected failure 1 of 3'
    >>> [cell_text(Cell(**made, verdict=Verdict(word=word, of=3))) for word in ("not met", "not run")]
    ['rule never matched (others did)', 'not run']
    """
    verdict = cell.verdict
    if verdict.word in UNJUDGED:
        others = verdict.word == "not met" and verdict.of
        return word_text(verdict.word) + (" (others did)" if others else "")
    observations = "; ".join(_observation_text(each, verdict) for each in verdict.observations)
    broken = verdict.promised and verdict.word not in ("fine", "slow")
    marks = [UNEXPECTED] * broken + [UNSTABLE] * is_unstable(verdict)
    return f"{', '.join(marks)}: {observations}" if marks else observations


def public_text(cell: Cell) -> str:
    """Describe a cell for publication, without what may be an unfixed bug (SECURITY.md).

    >>> made = {"client": "c", "workload": "w", "scenario": "s", "broker": "embedded"}
    >>> public_text(Cell(**made, verdict=Verdict(word="lost", times=1, of=3)))
    'unexpected, unstable'
    """
    text = cell_text(cell)
    return text.partition(":")[0] if text.startswith(UNEXPECTED) else text


def is_unstable(verdict: Verdict) -> bool:
    """Return whether the runs of a cell differ."""
    return verdict.word not in UNJUDGED and any(
        each.times != verdict.of for each in verdict.observations
    )


def _observation_text(observation: Observation, verdict: Verdict) -> str:
    text = word = label(observation)
    if observation.times != verdict.of:
        text = f"{word} {observation.times} of {verdict.of}"
    if observation.word == "slow":
        text += f" (+{verdict.slower_ms / 1000:.1f} s{', busy machine' if verdict.busy else ''})"
    return text if observation.promised or word == EXPECTED_FAILURE else f"{text} (not promised)"


def label(observation: Observation) -> str:
    """Return the table's word for an observation.

    >>> label(Observation(word="fails", promised=False)), label(Observation(word="lost"))
    ('expected failure', 'lost')
    """
    expected = observation.word == "fails" and not observation.promised
    return EXPECTED_FAILURE if expected else word_text(observation.word)


def reasons(verdict: Verdict) -> list[str]:
    """Return the reasons of a verdict, and the rules that never matched.

    Of several observations, each reason has its word.

    >>> fails = Observation(word="fails", why="X: no")
    >>> reasons(Verdict(word="lost", why="a is missing", also=(fails,), unmatched=("r",)))
    ['lost: a is missing', 'fails: X: no', "never matched: rule 'r'"]
    """
    names = ", ".join(map(repr, verdict.unmatched))
    never = [f"never matched: rule {names}"] if names else []
    if not verdict.also or verdict.word in UNJUDGED:
        return [*([verdict.why] if verdict.why else []), *never]
    observations = [f"{word_text(each.word)}: {each.why}" for each in verdict.observations]
    return [*observations, *never]


def word_text(word: Word) -> str:
    """Return the table's word for a stored verdict.

    >>> word_text("not met"), word_text("lost")
    ('rule never matched', 'lost')
    """
    return LABELS.get(word, word)


def severity(cell: Cell) -> Literal["fine", "warning", "error", "open"]:
    """Return how much a cell says against its client; open: neither for nor against it."""
    word = cell.verdict.word
    if word in UNJUDGED or not cell.verdict.promised:
        return "open"
    if word == "fine":
        return "fine"
    return "warning" if word == "slow" else "error"


def smallest_lines(cell: Cell) -> list[str]:
    """Describe the smallest traffic with which a cell fails, if the plain traffic did not suffice."""
    if cell.smallest is None:
        return []
    needs = ", ".join(cell.needs) or "no feature: the plain traffic failed, too"
    return [f"smallest traffic that fails: {_traffic(cell.smallest)}; it needs {needs}"]


def _traffic(drawn: Draw) -> str:
    return f"{drawn.records} records in {drawn.sends} sends"


def trial_lines(trial: Trial, workload: Workload) -> list[str]:
    """Describe a trial: its traffic, its end and its observations, a line each."""
    ended = "its time was up" if trial.code is None else f"exit code {trial.code}"
    return [
        f"seed {trial.seed}: {ended} after {trial.seconds:.1f} s; {_fired(trial)}",
        *_drawn_lines(trial.drawn, workload),
        *([f"asked with {trial.settings}"] if trial.settings else []),
        *([f"raised {trial.raised}"] if trial.raised else []),
        *([trial.unfinished] if trial.unfinished else []),
        *(f"{finding.kind}: {finding.text}" for finding in trial.findings),
        *(f"breaks the protocol: {violation}" for violation in trial.broken),
    ]


def _drawn_lines(drawn: Draw | None, workload: Workload) -> list[str]:
    different = () if drawn is None else features(drawn, workload)
    return [f"{_traffic(drawn)}, {', '.join(different)}"] if drawn and different else []


def _fired(trial: Trial) -> str:
    if not trial.fired:
        return "no rule fired"
    counts = [(name, times) for name, times in trial.rules if times]
    texts = [
        f"rule {name!r} fired {'once' if times == 1 else f'{times} times'}"
        for name, times in counts
    ]
    if not texts:  # stored before rules were counted
        texts = [f"the rules fired {'once' if trial.fired == 1 else f'{trial.fired} times'}"]
    texts += [f"rule {name!r} did not" for name, times in trial.rules if not times]
    if trial.fired > 1:
        texts.append(f"{trial.fault_ms / 1000:.1f} s from the first match to the last")
    return ", ".join(texts)


def rerun_command(cell: Cell, out: Path) -> str:
    """Return the command that runs a cell again."""
    command_option = ["--command", f"{cell.client}={cell.command}"] if cell.command else []
    return shlex.join(
        ["barnabas", "clients", "rerun", cell.name, *command_option, "--out", str(out)]
    )
