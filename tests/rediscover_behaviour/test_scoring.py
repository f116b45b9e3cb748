"""When a pair is told apart, on cells that are made up."""

from __future__ import annotations

from typing import Any

import pytest

from tests.experiments.clients.made import cell
from tests.rediscover_behaviour.pairs import Pair
from tests.rediscover_behaviour.scoring import HEADER, score

PAIR = Pair("one#1", "one@1", "one@2", "produce", "slow-broker", "fails")


@pytest.mark.parametrize(
    ("old", "fixed", "apart"),
    [
        ({"word": "fails"}, {"word": "fine"}, True),
        ({"word": "fails", "times": 1}, {"word": "fine"}, True),
        ({"word": "fails"}, {"word": "slow"}, True),
        ({"word": "fails"}, {"word": "reordered", "promised": False}, True),
        ({"word": "fine"}, {"word": "fine"}, False),
        ({"word": "fails"}, {"word": "fails", "times": 1}, False),
        ({"word": "stuck"}, {"word": "fine"}, False),  # another fault than the one that is known
        ({"word": "fails", "promised": False}, {"word": "fine"}, False),
        ({"word": "not run"}, {"word": "fine"}, False),
        ({"word": "fails"}, {"word": "lost"}, False),
        ({"word": "fails"}, {"word": "not met"}, False),
        ({"word": "fails"}, {"word": "not run"}, False),
    ],
)
def test_a_pair_is_told_apart_by_the_fault_that_only_the_old_one_has(
    old: dict[str, Any], fixed: dict[str, Any], apart: bool
) -> None:
    cells = {one.name: one for one in (cell("one@1", **old), cell("one@2", **fixed))}
    assert score(PAIR, cells).apart == apart


def test_a_row_has_both_verdicts() -> None:
    cells = {
        one.name: one for one in (cell("one@1", word="fails", times=2), cell("one@2", word="fine"))
    }
    row = score(PAIR, cells).row
    assert row == (
        "| one#1 | one 1 → 2 | `produce`, `slow-broker` "
        "| unexpected, unstable: fails 2 of 3 | as expected | yes |"
    )
    assert row.count("|") == HEADER[0].count("|")
