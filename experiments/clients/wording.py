"""Descriptions of a cell: in the table, next to it, and in full."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final, Literal

from barnabas.experiments.clients.cell import Cell
from barnabas.experiments.clients.trial import Trial
from barnabas.experiments.clients.verdict import Word

UNJUDGED: Final = ("not met", "not run")

MEANINGS: Final[dict[Word, str]] = {
    "fine": "all that was promised, and no more than 5 s beyond the fault's own time",
    "slow": "the same, later: by so much beyond the fault's own time and a run without faults",
    "duplicates": "a record is in the log, or was read, more than once",
    "lost": "the log lacks a record that the client said is written",
    "uncommitted": "brokers lack an offset that the client said is committed",
    "reordered": "records are in another order than they were sent or written in",
    "skipped": "a consumer left out records",
    "aborted seen": "a consumer of committed records was given others",
    "misplaced": "the log has something else at the offset that the client was told",
    "phantom": "a consumer was given a record that nobody sent",
    "failed yet written": "the log has a record of which the client said that it failed",
    "breaks the protocol": "the client did what the protocol forbids, on exchanges that no rule touched",
    "fails": "an error came out of the client; `healthy` of the scenario says whether it may",
    "stuck": "it waited in vain until the run gave up",
    "died": "its process ended",
    "not met": "the rules had nothing to do: the cell says nothing",
    "not run": "the client can't be had or can't do it, or is not fine without any fault",
}
"""The observations that each verdict stands for."""


def cell_text(cell: Cell) -> str:
    """Describe a cell in a few words.

    >>> from barnabas.experiments.clients.verdict import Verdict
    >>> made = {"client": "c", "workload": "w", "scenario": "s", "broker": "embedded"}
    >>> cell_text(Cell(**made, verdict=Verdict(word="duplicates", times=2, of=3, promised=False)))
    'duplicates 2 of 3 (not promised)'
    >>> cell_text(Cell(**made, verdict=Verdict(word="fails", times=3, of=3, promised=False)))
    'fails (as it may)'
    """
    verdict = cell.verdict
    if verdict.word in UNJUDGED:
        return verdict.word
    text: str = verdict.word
    if verdict.times != verdict.of:
        text += f" {verdict.times} of {verdict.of}"
    if verdict.word == "slow":
        text += f" +{verdict.slower_ms / 1000:.1f} s" + (" (busy machine)" if verdict.busy else "")
    if verdict.promised:
        return text
    return f"{text} (as it may)" if verdict.word == "fails" else f"{text} (not promised)"


def colour_class(cell: Cell) -> Literal["fine", "slow", "open", "bad"]:
    """Return the colour class of a cell; open: neither for nor against the client."""
    word = cell.verdict.word
    if word in UNJUDGED or not cell.verdict.promised:
        return "open"
    return word if word in ("fine", "slow") else "bad"


def trial_lines(trial: Trial) -> list[str]:
    """Describe a trial: its end and its observations, a line each."""
    ended = "its time was up" if trial.code is None else f"exit code {trial.code}"
    return [
        f"seed {trial.seed}: {ended} after {trial.seconds:.1f} s; {_fired(trial)}",
        *([f"asked with {trial.settings}"] if trial.settings else []),
        *([f"raised {trial.raised}"] if trial.raised else []),
        *([trial.unfinished] if trial.unfinished else []),
        *(f"{finding.kind}: {finding.text}" for finding in trial.findings),
        *(f"breaks the protocol: {violation}" for violation in trial.broken),
    ]


def _fired(trial: Trial) -> str:
    if not trial.fired:
        return "no rule fired"
    if trial.fired == 1:
        return "the rules fired once"
    return (
        f"the rules fired {trial.fired} times, {trial.fault_ms / 1000:.1f} s from their first to their "
        "last match"
    )


def rerun_command(cell: Cell, out: Path) -> str:
    """Return the command that runs a cell again."""
    command_option = ["--command", f"{cell.client}={cell.command}"] if cell.command else []
    return shlex.join(
        ["barnabas", "clients", "rerun", cell.name, *command_option, "--out", str(out)]
    )
