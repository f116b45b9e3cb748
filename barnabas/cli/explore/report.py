"""What an exploration prints: a line a run, what was found, and how to see it again."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Final

from rich.table import Table
from rich.text import Text

from barnabas.captures.kafka.wording import printable
from barnabas.cli.console.output import Output
from barnabas.cli.console.show import ms
from barnabas.experiments.explore.exploration import REPEATED_RUNS
from barnabas.experiments.explore.result import Result
from barnabas.plural import plural
from barnabas.specs.json_text import compact

COLUMNS: Final = ("k", "API", "client", "cut", "outcome", "recovery", "what")


class Report:
    """Results as they come in JSON, or all of them in a table at the end."""

    def __init__(self, output: Output, as_json: bool) -> None:
        self._output = output
        self._as_json = as_json
        self._results: list[Result] = []

    @property
    def failed(self) -> list[Result]:
        """Those in which something was found."""
        return [one for one in self._results if one.failed]

    def add(self, result: Result) -> None:
        """One more."""
        self._results.append(result)
        if self._as_json:
            self._output.raw(row(result))

    def close(
        self, left_out: Counter[str], folder: Path | None, command: list[str], bootstrap: str
    ) -> None:
        """The table, what was counted, and how to repeat what failed."""
        results = sorted(self._results, key=lambda one: one.k)
        if not self._as_json and results:
            self._table(results)
        if folder is not None and any(one.failed for one in results if not one.scenario):
            self._output.note(
                "no fault was injected: the run without faults has findings already. Fix these, "
                "then run the same command again; history and output: "
                f"{folder.joinpath('runs', 'recording')}"
            )
            return
        runs = [one for one in results if one.scenario]
        said = [plural(len(runs), "run")]
        said.append(f"{sum(one.failed for one in runs)} with findings")
        unreached = sum(not one.reached for one in runs)
        if unreached:
            said.append(f"{unreached} inconclusive: the exchange did not occur")
        silent = sum(not one.history for one in results)
        if silent:
            said.append(f"{silent} without a history: only the exit code was checked")
        self._output.note(", ".join(said))
        if left_out:
            reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
            self._output.note(f"not run: {reasons}")
        failed = [one for one in results if one.failed and one.scenario]
        failed.sort(key=lambda one: (not one.repeated, -one.reproduced))
        if folder is None or not failed:
            return
        self._output.note(
            f"histories and output of failed runs: {folder / 'runs'}; to repeat them:"
        )
        for one in failed[:REPEATED_RUNS]:
            again = ["barnabas", "explore", "-b", bootstrap, "--only"]
            again += [str(folder / "scenarios" / one.scenario), "--", *command]
            count = f"  # {one.reproduced} of {one.repeated}" if one.repeated else ""
            self._output.note(f"  {shlex.join(again)}{count}")
        if len(failed) > REPEATED_RUNS:
            self._output.note(f"  and {len(failed) - REPEATED_RUNS} more in {folder / 'scenarios'}")

    def _table(self, results: list[Result]) -> None:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for name in COLUMNS:
            table.add_column(name, justify="right" if name in ("k", "recovery") else "left")
        for one in results:
            style = "bold red" if one.failed else "" if one.reached else "yellow"
            cells = enumerate(_cells(one))
            table.add_row(*(Text(cell, style if at == 4 else "") for at, cell in cells))
        self._output.out.show_table(table)


def row(result: Result) -> str:
    """A result as a line of JSON, with its outcome in words."""
    values = {"outcome": result.outcome, **result.model_dump(mode="json")}
    return compact(values)


def _cells(one: Result) -> tuple[str, ...]:
    recovery = "" if one.recovery_ms is None else ms(one.recovery_ms)
    name = str(one.k) if one.scenario else "-"
    cells = (name, one.api, one.client, one.cut, one.outcome, recovery, one.details)
    return tuple(map(printable, cells))
