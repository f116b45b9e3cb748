"""Wilson's interval, against what is known of it."""

from __future__ import annotations

import pytest

from experiments.intervals import share, wilson


@pytest.mark.parametrize(("hits", "runs"), [(0, 1), (0, 50), (1, 3), (25, 50), (50, 50)])
def test_the_share_lies_in_its_interval_and_the_other_share_mirrors_it(
    hits: int, runs: int
) -> None:
    low, high = wilson(hits, runs)
    assert 0 <= low <= hits / runs <= high <= 1
    other_low, other_high = wilson(runs - hits, runs)
    assert (low, high) == pytest.approx((1 - other_high, 1 - other_low))


def test_an_interval_that_was_published() -> None:
    # Newcombe (1998), table I: 81 of 263 gives 0.2553 to 0.3662
    assert wilson(81, 263, 1.959964) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_more_runs_say_more_and_none_say_nothing() -> None:
    assert wilson(0, 50)[1] < wilson(0, 20)[1]
    assert wilson(0, 0) == (0.0, 1.0)
    assert share(0, 0) == "0 of 0"
