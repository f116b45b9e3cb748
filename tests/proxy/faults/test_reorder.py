from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.dice import Dice
from proxy.effects import Aside, Shuffle
from proxy.faults.reorder import Reorder, reorder
from tests.proxy.faults.given import only


def test_swap_lets_the_next_ones_pass() -> None:
    assert only(reorder, Reorder(swap=2), float) == Aside(5_000_000_000, passing=2, restore=True)


def test_settings_are_handed_on() -> None:
    config = Reorder.model_validate({"shuffle": 2, "at_most": "1s", "restore": False})
    effect = only(reorder, config, float)
    assert isinstance(effect, Shuffle)
    assert (effect.at_most, effect.restore) == (1_000_000_000, False)


@given(st.integers(2, 1000), st.integers())
def test_shuffle_is_a_permutation(size: int, seed: int) -> None:
    config = Reorder(shuffle=size)
    one, two = (only(reorder, config, Dice(seed).roll("r", ())) for _ in range(2))
    assert one == two
    assert isinstance(one, Shuffle)
    assert sorted(one.order) == list(range(size))


def test_all_orders_come_about_equally_often() -> None:
    found: dict[tuple[int, ...], int] = {}
    for n in range(1200):
        effect = only(reorder, Reorder(shuffle=3), Dice(7).roll("r", (n,)))
        assert isinstance(effect, Shuffle)
        found[effect.order] = found.get(effect.order, 0) + 1
    assert len(found) == 6
    assert all(150 < count < 250 for count in found.values())
