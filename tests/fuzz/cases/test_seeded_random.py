"""Draws: the same for the same seed and number, and spread over all there is."""

from __future__ import annotations

from collections import Counter

import pytest

from barnabas.fuzz.cases.seeded_random import SeededRandom


@pytest.mark.parametrize("limit", [1, 2, 3, 10, 1 << 20, (1 << 20) + 1, 1 << 48, 1 << 64])
def test_draws_are_below_their_limit_and_reach_all_of_it(limit: int) -> None:
    dice = SeededRandom("spread", limit)
    found = [dice.below(limit) for _ in range(4000)]
    assert 0 <= min(found) <= max(found) < limit
    tenths = Counter(value * 10 // limit for value in found)
    if limit >= 10:
        assert len(tenths) == 10
        assert all(300 < times < 500 for times in tenths.values())
    else:
        assert set(found) == set(range(limit))


def test_first_draws_of_following_numbers_are_spread() -> None:
    found = Counter(SeededRandom("numbers", number).below(8) for number in range(8000))
    assert all(850 < times < 1150 for times in found.values())
    pairs: Counter[tuple[int, int]] = Counter()
    for number in range(6400):
        dice = SeededRandom("numbers", number)
        pairs[dice.below(8), dice.below(8)] += 1
    assert len(pairs) == 64
    assert all(50 < times < 160 for times in pairs.values())


def test_only_the_first_draw_of_a_spread_generator_goes_by_the_upper_bits() -> None:
    """Following visits come through all of a few variants at once; what is drawn then is as chance has it."""
    visits = [SeededRandom.spread("lengths", visit << 24 | 5) for visit in range(640)]
    first = [dice.below(8) for dice in visits]
    assert all(len(set(first[start : start + 13])) == 8 for start in range(620))
    second = Counter(dice.below(8) for dice in visits)
    assert all(40 < times < 120 for times in second.values())
    lower = Counter(SeededRandom.spread("lengths", draws).below(1 << 40) for draws in range(100))
    assert len(lower) == 100


def test_bytes_are_as_many_as_asked_for_and_differ() -> None:
    dice = SeededRandom("bytes", 0)
    found = [dice.some_bytes(size) for size in (0, 1, 63, 64, 65, 1000)]
    assert list(map(len, found)) == [0, 1, 63, 64, 65, 1000]
    assert len(set(found[-1])) > 200
