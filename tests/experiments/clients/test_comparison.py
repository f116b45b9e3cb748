"""The cells in which two releases differ."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.experiments.clients.comparison import differences
from barnabas.experiments.clients.verdict import Observation
from tests.experiments.clients.made import cell

FAILS = Observation(word="fails", times=1)


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ({}, {}, False),
        ({"word": "lost"}, {}, True),
        ({"word": "lost", "times": 1}, {"word": "lost", "times": 3}, False),
        ({"word": "lost"}, {"word": "lost", "also": (FAILS,)}, True),
        ({"word": "fails"}, {"word": "fails", "promised": False}, True),
        ({"word": "slow"}, {}, True),
        ({"word": "slow", "busy": True}, {}, False),
        ({"word": "slow", "busy": True, "slower_ms": 15_000}, {}, True),
        (
            {"word": "lost", "also": (Observation(word="slow"),), "busy": True},
            {"word": "lost"},
            False,
        ),
        ({"word": "not run"}, {}, True),
    ],
)
def test_cells_differ_by_their_observations(
    old: dict[str, Any], new: dict[str, Any], differs: bool
) -> None:
    cells = [cell("a@1", **old), cell("a@2", **new), cell("b@1", word="died")]
    assert bool(differences(cells, "a@2", "a@1")) is differs


def test_a_cell_that_only_one_has_differs() -> None:
    only = cell("a@2", "lossy-network")
    (difference,) = differences([cell("a@1"), cell("a@2"), only], "a@2", "a@1")
    assert (difference.scenario, difference.new, difference.old) == ("lossy-network", only, None)
