"""What is said of a cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from barnabas.experiments.clients.trial import Trial
from barnabas.experiments.clients.wording import colour_class, rerun_command, trial_lines
from barnabas.experiments.explore.finding import Finding
from tests.experiments.clients.made import cell


@pytest.mark.parametrize(
    ("about", "known"),
    [
        ({}, "fine"),
        ({"word": "slow"}, "slow"),
        ({"word": "not met"}, "open"),
        ({"word": "not run"}, "open"),
        ({"word": "not met", "unmatched": ("a",)}, "open"),
        ({"word": "reordered", "promised": False}, "open"),
        ({"word": "reordered"}, "bad"),
    ],
)
def test_a_cell_is_coloured_by_what_is_said_against_the_client(
    about: dict[str, Any], known: str
) -> None:
    assert colour_class(cell(**about)) == known


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
    )
    assert trial_lines(one) == [
        "seed 7: exit code 0 after 1.5 s; rule 'refused' fired once, rule 'slow' fired 2 times, "
        "rule 'cut' did not, 2.5 s from the first match to the last",
        "raised X: no",
        "lost: 1 acknowledged, not in t: a",
        "breaks the protocol: Fetch 1: bad",
    ]


def test_the_command_that_does_it_again_is_one_for_a_shell() -> None:
    assert rerun_command(cell(), Path("my table")).endswith(
        "one@1/produce/slow-broker --out 'my table'"
    )
    mine = cell("mine").model_copy(update={"command": "python mine.py"})
    assert "--command 'mine=python mine.py'" in rerun_command(mine, Path("t"))
