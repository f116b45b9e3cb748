"""The output of an exploration: its runs, their findings, and commands that repeat them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.text import Text

from barnabas.captures.kafka.wording import printable
from barnabas.cli.console.output import Output
from barnabas.cli.console.show import ms
from barnabas.cli.console.terminal import plain_table
from barnabas.experiments.explore.checks.outputs import Expectation
from barnabas.experiments.explore.exploration import REPEATED_RUNS
from barnabas.experiments.explore.result import Result
from barnabas.experiments.explore.untried import Untried
from barnabas.plural import plural
from barnabas.specs.json_text import compact

COLUMNS: Final = ("k", "API", "client", "fault", "outcome", "recovery", "what")


class Report:
    """The report of an exploration: JSON as results come, or a table at the end."""

    def __init__(
        self,
        output: Output,
        as_json: bool,
        folder: Path | None,
        repeat: Sequence[str],
        command: Sequence[str],
        expectations: Sequence[Expectation] = (),
    ) -> None:
        """Create a report without results.

        Args:
            output: where it is printed.
            as_json: whether results are lines of JSON.
            folder: the exploration's folder; None: the runs have none.
            repeat: the command line of barnabas that repeats runs, up to its options.
            command: the program.
            expectations: expectations of the program's outputs.
        """
        self._output = output
        self._as_json = as_json
        self._folder = folder
        self._repeat = repeat
        self._command = command
        self.expectations = expectations
        self._results: list[Result] = []

    @property
    def failed(self) -> list[Result]:
        """Return the results with findings."""
        return [result for result in self._results if result.failed]

    def add(self, result: Result) -> None:
        """Add a result."""
        self._results.append(result)
        if self._as_json:
            self._output.raw(row(result))

    def close(self, not_tried: Untried | None = None) -> None:
        """Print the table, the counts, what was not tried, and the commands that repeat failed runs."""
        folder = self._folder
        results = sorted(self._results, key=lambda result: result.k)
        if not self._as_json and results:
            self._table(results)
        if folder is not None and any(result.failed for result in results if not result.scenario):
            self._output.note(
                "no fault was injected: the run without faults has findings already. Fix these, "
                "then run the same command again; history and output: "
                f"{folder.joinpath('runs', 'recording')}"
            )
            return
        runs = [result for result in results if result.scenario]
        totals = [plural(len(runs), "run")]
        totals.append(f"{sum(result.failed for result in runs)} with findings")
        unreached = sum(not result.reached for result in runs)
        if unreached:
            totals.append(f"{unreached} inconclusive")
        silent = sum(not result.history for result in results)
        if silent:
            judged = "--expect and the exit code" if self.expectations else "the exit code"
            totals.append(f"{silent} without a history: only {judged} checked")
        self._output.note(", ".join(totals))
        if not_tried is not None:
            self._not_tried(not_tried)
        failed = [result for result in results if result.failed and result.scenario]
        failed.sort(key=lambda result: (not result.repeated, -result.reproduced))
        if folder is None or not failed:
            return
        self._output.note(
            f"histories and output of failed runs: {folder / 'runs'}; to repeat them:"
        )
        for result in failed[:REPEATED_RUNS]:
            file = str(folder / "scenarios" / result.scenario)
            expect = [part for each in self.expectations for part in ("--expect", str(each))]
            rerun = [*self._repeat, *expect, "--only", file, "--", *self._command]
            count = f"  # {result.reproduced} of {result.repeated}" if result.repeated else ""
            self._output.note(f"  {shlex.join(rerun)}{count}")
        if len(failed) > REPEATED_RUNS:
            self._output.note(f"  and {len(failed) - REPEATED_RUNS} more in {folder / 'scenarios'}")

    def _not_tried(self, not_tried: Untried) -> None:
        if self._as_json:
            self._output.raw(compact({"not_tried": not_tried._asdict()}))
        if not_tried.runs:
            reasons = ", ".join(f"{count} {reason}" for reason, count in not_tried.runs.items())
            self._output.note(f"not run: {reasons}")
        if not_tried.errors:
            counts = ", ".join(f"{len(names)} of {api}" for api, names in not_tried.errors.items())
            self._output.note(f"known errors not tried (names: --json): {counts}")
        self._output.note(f"faults not tried: {'; '.join(not_tried.kinds)}")

    def _table(self, results: list[Result]) -> None:
        table = plain_table(*COLUMNS, numbers=("k", "recovery"))
        for result in results:
            style = "bold red" if result.failed else "" if result.reached else "yellow"
            cells = enumerate(_cells(result))
            table.add_row(*(Text(cell, style if at == 4 else "") for at, cell in cells))
        self._output.out.show_table(table)


def row(result: Result) -> str:
    """Return a result as a line of JSON, with a description of its outcome."""
    values = {"outcome": result.outcome, **result.model_dump(mode="json")}
    return compact(values)


def _cells(result: Result) -> tuple[str, ...]:
    recovery = "" if result.recovery_ms is None else ms(result.recovery_ms)
    name = str(result.k) if result.scenario else "-"
    cells = (name, result.api, result.client, result.cut, result.outcome, recovery, result.details)
    return tuple(map(printable, cells))
