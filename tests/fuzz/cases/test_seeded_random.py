"""Draws: the same for the same seed and number, and spread over all there is."""

from __future__ import annotations

from collections import Counter

import pytest

from barnabas.fuzz.cases.seeded_random import (
    ABREAST,
    Abreast,
    SeededRandom,
    all_spread,
    resumed,
    spread,
)


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


@pytest.mark.parametrize("number", [0, 1, 63, 30_000, (1 << 40) + 5])
def test_dice_abreast_draw_what_each_of_them_draws(number: int) -> None:
    found = Abreast("abreast", number)
    drawn = (
        found.states(), found.upper(), found.bits(), found.below(100), found.below(1 << 20),
        found.states(),
    )  # fmt: skip
    assert len(drawn[0]) == ABREAST
    for lane, row in enumerate(zip(*drawn, strict=True)):
        dice = SeededRandom("abreast", number + lane)
        begun = dice.state
        expected = dice.upper(), dice.bits(), dice.below(100), dice.below(1 << 20)
        assert row == (begun, *expected, dice.state)


@pytest.mark.parametrize("many", [1, 3, ABREAST])
def test_many_are_spread_as_each_of_them_is(many: int) -> None:
    seeds = ["lengths", "counts", "uuids", "lengths"]
    numbers = SeededRandom("many", many)
    draws = [0, (1 << 48) - 1, 5 << 24, *(numbers.below(1 << 48) for _ in range(ABREAST))][:many]
    pairs = [(seeds[at % 4], number) for at, number in enumerate(draws)]
    states = all_spread([seed for seed, _ in pairs], draws)
    assert list(states[:many]) == [spread(*pair).state for pair in pairs]
    again = resumed(states[0])
    assert again.below(1000) == spread(*pairs[0]).below(1000)
