"""Shrinking fields: defaults, empty ones, lower values."""

from __future__ import annotations

from barnabas.fuzz.cases.case import Change, Recipe
from barnabas.fuzz.shrinking.fields import LOWER, VALUES
from barnabas.fuzz.shrinking.search import shrink
from tests.fuzz.shrinking.test_search import body, seed

FETCH = Recipe(
    seed("Fetch", 12, {"max_wait_ms": 1000, "min_bytes": -77, "rack_id": "a" * 64, "topics": []}),
    (Change("limits", "min_bytes", 1),),
)


def test_numbers_and_texts_become_as_low_as_the_bug_lets_them() -> None:
    def fires(recipe: Recipe) -> bool:
        found = body(recipe)
        return found["max_wait_ms"] >= 100 and len(found["rack_id"]) >= 3

    small = body(shrink(FETCH, fires, steps=(VALUES, LOWER)).recipe)
    assert (small["max_wait_ms"], small["rack_id"]) == (125, "aaaa")
    assert small["min_bytes"] == -77  # a change is put to it
