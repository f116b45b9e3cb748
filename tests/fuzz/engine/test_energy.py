from __future__ import annotations

from barnabas.fuzz.engine.energy import LEAST, MOST, next_energies


def test_a_seed_that_reached_something_new_gets_more_and_others_fade() -> None:
    after = next_energies({"old": 16}, ["new"])
    assert after["new"] > LEAST
    assert after["old"] == 8


def test_energy_has_a_top() -> None:
    assert next_energies({}, ["a"] * 1000) == {"a": MOST}


def test_without_news_all_fade_to_the_least() -> None:
    energies = {"a": MOST}
    for _ in range(10):
        energies = next_energies(energies, [])
    assert energies == {}


def test_the_order_of_the_news_makes_no_difference() -> None:
    assert next_energies({"a": 3}, ["b", "a", "b"]) == next_energies({"a": 3}, ["a", "b", "b"])
