from __future__ import annotations

from barnabas.fuzz.engine.energy import LEAST, MOST, next_energies, of_fields
from barnabas.fuzz.engine.stats import Field

FIELD = Field("Fetch", 4, "topics[].name")


def test_a_seed_that_reached_something_new_gets_more_and_others_fade() -> None:
    after = next_energies({"old": 16}, ["new"], {})
    assert after["new"] > LEAST
    assert after["old"] == 8


def test_a_field_that_nothing_showed_gets_less_the_more_was_tried_and_at_last_none() -> None:
    given = [
        of_fields(next_energies({}, [], {FIELD: cases})).get(FIELD, 0) for cases in (1, 4, MOST)
    ]
    assert given == [MOST, MOST // 4, 1]
    assert next_energies({}, [], {FIELD: MOST + 1}) == {}
