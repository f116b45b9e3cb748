"""What is said of a cell: in the table, beside it, and in full."""

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
"""What each word says was seen."""


def said(cell: Cell) -> str:
    """A cell in a few words.

    >>> from barnabas.experiments.clients.verdict import Verdict
    >>> made = {"client": "c", "workload": "w", "scenario": "s", "broker": "embedded"}
    >>> said(Cell(**made, verdict=Verdict(word="duplicates", times=2, of=3, promised=False)))
    'duplicates 2 of 3 (not promised)'
    >>> said(Cell(**made, verdict=Verdict(word="fails", times=3, of=3, promised=False)))
    'fails (as it may)'
    """
    found = cell.verdict
    if found.word in UNJUDGED:
        return found.word
    text: str = found.word
    if found.times != found.of:
        text += f" {found.times} of {found.of}"
    if found.word == "slow":
        text += f" +{found.slower_ms / 1000:.1f} s" + (" (busy machine)" if found.busy else "")
    if found.promised:
        return text
    return f"{text} (as it may)" if found.word == "fails" else f"{text} (not promised)"


def kind(cell: Cell) -> Literal["fine", "slow", "open", "bad"]:
    """By which a cell is coloured; open: nothing is said against the client."""
    word = cell.verdict.word
    if word in UNJUDGED or not cell.verdict.promised:
        return "open"
    return word if word in ("fine", "slow") else "bad"


def told(one: Trial) -> list[str]:
    """Of a trial, a line each: how it ended, and what was seen."""
    ended = "its time was up" if one.code is None else f"exit code {one.code}"
    return [
        f"seed {one.seed}: {ended} after {one.seconds:.1f} s; {_fired(one)}",
        *([f"asked with {one.settings}"] if one.settings else []),
        *([f"raised {one.raised}"] if one.raised else []),
        *([one.unfinished] if one.unfinished else []),
        *(f"{found.kind}: {found.text}" for found in one.findings),
        *(f"breaks the protocol: {what}" for what in one.broken),
    ]


def _fired(one: Trial) -> str:
    if not one.fired:
        return "no rule fired"
    if one.fired == 1:
        return "the rules fired once"
    return (
        f"the rules fired {one.fired} times, {one.fault_ms / 1000:.1f} s from their first to their "
        "last match"
    )


def again(cell: Cell, out: Path) -> str:
    """The command that runs it again."""
    own = ["--command", f"{cell.client}={cell.command}"] if cell.command else []
    return shlex.join(["barnabas", "clients", "rerun", cell.name, *own, "--out", str(out)])
