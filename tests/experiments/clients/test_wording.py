"""What is said of a cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from barnabas.experiments.clients.draws import Draw
from barnabas.experiments.clients.trial import Trial
from barnabas.experiments.clients.wording import (
    rerun_command,
    severity,
    smallest_lines,
    trial_lines,
)
from barnabas.experiments.clients.workloads import PAUSE, find
from barnabas.experiments.explore.finding import Finding
from tests.experiments.clients.made import cell


@pytest.mark.parametrize(
    ("about", "known"),
    [
        ({}, "fine"),
        ({"word": "slow"}, "warning"),
        ({"word": "not met"}, "open"),
        ({"word": "not run"}, "open"),
        ({"word": "not met", "unmatched": ("a",)}, "open"),
        ({"word": "reordered", "promised": False}, "open"),
        ({"word": "reordered"}, "error"),
    ],
)
def test_a_cell_is_coloured_by_what_is_said_against_the_client(
    about: dict[str, Any], known: str
) -> None:
    assert severity(cell(**about)) == known


def test_of_a_trial_all_that_was_seen_is_told() -> None:
    lost = Finding(kind="lost", text="1 acknowledged, not in t: a")
    one = Trial(
        seed=7,
        raised="X: no",
        code=0,
        seconds=1.5,
        fired=3,
        rules=(("refused", 1), ("slow", 2), ("cut", 0)),
        fault_ms=2500,
        findings=(lost,),
        broken=("Fetch 1: bad",),
        drawn=Draw(sends=10, per_send=7, headers=True, pause=PAUSE),
    )
    assert trial_lines(one, find("produce")) == [
        "seed 7: exit code 0 after 1.5 s; rule 'refused' fired once, rule 'slow' fired 2 times, "
        "rule 'cut' did not, 2.5 s from the first match to the last",
        "70 records in 10 sends, 7 records a send, headers",
        "raised X: no",
        "lost: 1 acknowledged, not in t: a",
        "breaks the protocol: Fetch 1: bad",
    ]


def test_the_smallest_traffic_that_fails_is_told_with_what_it_needs() -> None:
    assert smallest_lines(cell()) == []
    smallest = {"smallest": Draw(sends=2, per_send=3), "needs": ("3 records a send",)}
    assert smallest_lines(cell().model_copy(update=smallest)) == [
        "smallest traffic that fails: 6 records in 2 sends; it needs 3 records a send"
    ]


def test_the_command_that_does_it_again_is_one_for_a_shell() -> None:
    assert rerun_command(cell(), Path("my table")).endswith(
        "one@1/produce/slow-broker --out 'my table'"
    )
    mine = cell("mine").model_copy(update={"command": "python mine.py"})
    assert "--command 'mine=python mine.py'" in rerun_command(mine, Path("t"))
