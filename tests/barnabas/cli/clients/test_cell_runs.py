"""Progress where no terminal is."""

from __future__ import annotations

from barnabas.cli.clients.cell_runs import EVERY, Due


def test_a_line_of_progress_is_due_now_and_then() -> None:
    due = Due(10)
    assert not due.at(10 + EVERY / 2)
    assert due.at(10 + EVERY)
    assert not due.at(10 + EVERY * 1.5)
    assert due.at(10 + EVERY * 2)
