"""Progress without a terminal, the summary, and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.cli.clients.cell_runs import EVERY, Due, exit_code, summary
from barnabas.experiments.clients.cell import Cell
from barnabas.experiments.clients.matrix import TROUBLE
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE
from tests.experiments.clients.made import cell

CONTROL = cell(scenario="none")
LOSES = cell(scenario="none", word="lost", why="without any fault: 1 missing")
UNRUN = cell(word="not run", why=LOSES.verdict.why)
AWAY = cell("two@2", word="not run", why=f"{TROUBLE}nobody is there")


def test_a_line_of_progress_is_due_now_and_then() -> None:
    due = Due(10)
    assert not due.at(10 + EVERY / 2)
    assert due.at(10 + EVERY)
    assert not due.at(10 + EVERY * 1.5)
    assert due.at(10 + EVERY * 2)


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ([CONTROL, cell()], FINE),
        ([CONTROL, cell(word="lost")], FINDINGS),
        ([LOSES, UNRUN], FINDINGS),
        ([LOSES, UNRUN, AWAY], FINDINGS),
        ([LOSES], FINDINGS),
        ([CONTROL, cell(word="not run", why="X")], COULD_NOT_RUN),
        ([CONTROL, cell(), AWAY], COULD_NOT_RUN),
    ],
)
def test_a_broken_promise_is_never_hidden_by_cells_that_did_not_run(
    cells: list[Cell], code: int
) -> None:
    assert exit_code(cells) == code


def test_what_is_broken_without_any_fault_is_first_in_the_summary() -> None:
    lines = list(summary([cell("two@2", word="lost"), UNRUN, LOSES], Path("t")))
    assert lines == [
        "one@1/produce/none: unexpected: lost: without any fault: 1 missing",
        "1 lost, 1 not run; `barnabas clients show CELL --out t` shows one cell",
        "not run: without any fault: 1 missing",
    ]
