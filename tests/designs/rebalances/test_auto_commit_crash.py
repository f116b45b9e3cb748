"""What the experiment with a killed consumer makes of made-up runs."""

from __future__ import annotations

from pathlib import Path

from barnabas.designs.rebalances.experiments.auto_commit_crash import Member, figures, notes
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
