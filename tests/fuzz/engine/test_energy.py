from __future__ import annotations

from barnabas.fuzz.engine.energy import LEAST, MOST, next_energies, of_fields, of_seeds
from barnabas.fuzz.engine.stats import Field

FIELD = Field("Fetch", 4, "topics[].name")


def test_a_seed_that_reached_something_new_gets_more_and_others_fade() -> None:
    after = next_energies({"old": 16}, ["new"], {})
    assert after["new"] > LEAST
    assert after["old"] == 8


def test_energy_has_a_top() -> None:
    assert next_energies({}, ["a"] * 1000, {}) == {"a": MOST}


def test_without_news_all_fade_to_the_least() -> None:
    energies = {"a": MOST}
    for _ in range(10):
        energies = next_energies(energies, [], {})
    assert energies == {}


def test_the_order_of_the_news_makes_no_difference() -> None:
    after = next_energies({"a": 3}, ["b", "a", "b"], {})
    assert after == next_energies({"a": 3}, ["a", "b", "b"], {})


def test_a_field_that_nothing_showed_gets_less_the_more_was_tried_and_at_last_none() -> None:
    given = [
        of_fields(next_energies({}, [], {FIELD: cases})).get(FIELD, 0) for cases in (1, 4, MOST)
    ]
    assert given == [MOST, MOST // 4, 1]
    assert next_energies({}, [], {FIELD: MOST + 1}) == {}


def test_the_energy_of_a_field_ends_with_the_round_in_which_it_was_shown() -> None:
    before = next_energies({"a": 8}, [], {FIELD: 1})
    assert of_seeds(before) == {"a": 4}
    assert next_energies(before, [], {}) == {"a": 2}


def test_the_key_of_a_field_says_which_it_is() -> None:
    fields = {FIELD: 2, Field("Fetch", 4, ""): 2, Field("Produce", 0, "a b"): 2}
    assert of_fields(next_energies({}, [], fields)) == dict.fromkeys(fields, MOST // 2)
