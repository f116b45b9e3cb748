"""Draws: the same for the same seed and number, and spread over all there is."""

from __future__ import annotations

from collections import Counter

import pytest

from fuzz.dice import Dice


def test_draws_depend_on_seed_and_number() -> None:
    def draws(seed: str | bytes, number: int) -> list[int]:
        dice = Dice(seed, number)
        return [dice.below(1 << 40) for _ in range(4)]

    assert draws("a", 1) == draws("a", 1) == draws(b"a", 1)
    assert len({tuple(draws(seed, number)) for seed in "ab" for number in range(-50, 50)}) == 200


@pytest.mark.parametrize("limit", [1, 2, 3, 10, 1 << 20, (1 << 20) + 1, 1 << 48, 1 << 64])
def test_draws_are_below_their_limit_and_reach_all_of_it(limit: int) -> None:
    dice = Dice("spread", limit)
    found = [dice.below(limit) for _ in range(4000)]
    assert 0 <= min(found) <= max(found) < limit
    tenths = Counter(value * 10 // limit for value in found)
    if limit >= 10:
        assert len(tenths) == 10
        assert all(300 < times < 500 for times in tenths.values())
    else:
        assert set(found) == set(range(limit))


def test_first_draws_of_following_numbers_are_spread() -> None:
    """A campaign goes through the numbers one by one."""
    found = Counter(Dice("numbers", number).below(8) for number in range(8000))
    assert all(850 < times < 1150 for times in found.values())
    pairs: Counter[tuple[int, int]] = Counter()
    for number in range(6400):
        dice = Dice("numbers", number)
        pairs[dice.below(8), dice.below(8)] += 1
    assert len(pairs) == 64
    assert all(50 < times < 160 for times in pairs.values())


def test_bytes_have_the_size_asked_for() -> None:
    for size in (0, 1, 63, 64, 65, 1000):
        assert len(Dice("b", size).some_bytes(size)) == size
    assert Dice("b", 1).between(-3, -3) == -3
    assert Dice("b", 1).pick("x") == "x"
