"""What the experiment with a killed consumer makes of made-up runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from barnabas.designs.rebalances.experiments.auto_commit_crash import (
    Member,
    figures,
    notes,
    plots,
    write,
)
from tests.designs.rebalances.made import commit

FIRST = [
    [0.0, "subscribes"],
    [1.0, "reads", "0", "1"],
    [1.5, "reads", "2", "3"],
    [1.8, "reads", "4"],
]
SECOND = [[2.0, "subscribes"], [8.0, "reads", "2", "3", "4"], [8.1, "reads", "5"]]


def test_what_both_processes_were_given_was_delivered_twice() -> None:
    passed = [commit(1, 1.2), commit(2, 9.0)]
    found = figures(Member(5000, FIRST, SECOND, passed))
    assert found == {
        "interval": 5000, "since_ms": 600, "given": 5, "twice": 3, "never": 0, "waited_ms": 6000,
    }  # fmt: skip


def test_what_neither_was_given_between_others_was_lost() -> None:
    second = [[2.0, "subscribes"], [8.0, "reads", "7"]]
    found = figures(Member(5000, FIRST, second, [commit(1, 1.2)]))
    assert (found["twice"], found["never"]) == (0, 2)


def test_without_a_commit_or_a_second_process_the_figures_are_open() -> None:
    found = figures(Member(5000, FIRST, [[2.0, "subscribes"]], []))
    assert (found["since_ms"], found["waited_ms"], found["twice"]) == (None, None, 0)


def test_a_line_that_a_kill_cut_off_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "first"
    file.write_text('["g.m", 1.0, "reads", "0"]\n["h.m", 1.1, "reads", "1"]\n["g.m", 1.2, "rea')
    assert notes(file) == {"g.m": [[1.0, "reads", "0"]], "h.m": [[1.1, "reads", "1"]]}


def ended(end: str, twice: int, since: int | None = 500, waited: int = 6000) -> dict[str, Any]:
    about = {"version": "4.3.1", "protocol": "classic", "end": end, "interval": 1000, "given": 100}
    return {**about, "since_ms": since, "twice": twice, "never": 0, "waited_ms": waited}


def test_kills_are_told_from_closes() -> None:
    runs = [ended("killed", 10), ended("killed", 22, 1000), ended("closed", 0, -1, 80)]
    measured = {"how": {"rate": 20, "session": 6.0}, "runs": [*runs, ended("killed", 9, None)]}
    text = write(measured)
    assert "| 1000 | killed | 2 | 750 (500-1000) | 16 (10-22) | 21 (20-22) | 0 | 6000 |" in text
    assert "| 1000 | closed | 1 | by the close | 0 |  | 0 | 80 |" in text
    assert (
        "After a kill, records were delivered twice in 2 of 2 (34-100 %) runs, 22 of them" in text
    )
    assert "After a close, records were delivered twice in 0 of 1" in text
    assert "Left out: 1 runs" in text
    assert plots(measured)["twice-4.3.1-classic"].count("<circle") == 3
