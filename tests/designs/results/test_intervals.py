"""Intervals, against what is known of them."""

from __future__ import annotations

import math

import pytest

from barnabas.designs.results.intervals import median_bounds, middle, share, wilson


def test_an_interval_that_was_published() -> None:
    # Newcombe (1998), table I: 81 of 263 gives 0.2553 to 0.3662
    assert wilson(81, 263, 1.959964) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_more_runs_say_more_and_none_say_nothing() -> None:
    assert wilson(0, 50)[1] < wilson(0, 20)[1]
    assert wilson(0, 0) == (0.0, 1.0)
    assert share(0, 0) == "0 of 0"


@pytest.mark.parametrize("count", range(6, 60))
def test_a_median_lies_within_its_bounds_in_95_of_100_cases_and_not_within_closer_ones(
    count: int,
) -> None:
    low, high = median_bounds(range(count, 0, -1))
    assert low + high == count + 1

    def outside(left_off: int) -> float:
        return sum(math.comb(count, number) for number in range(left_off + 1)) / 2.0 ** (count - 1)

    assert outside(int(low) - 1) <= 0.05 < outside(int(low))


def test_bounds_that_tables_of_the_sign_test_have() -> None:
    assert median_bounds(range(1, 21)) == (6, 15)


def test_few_values_are_all_that_is_known_and_none_are_nothing() -> None:
    assert median_bounds([3, 1, 2]) == (1, 3)
    assert middle([5.4]) == "5 (5-5)"
    with pytest.raises(ValueError, match="no values"):
        median_bounds([])
