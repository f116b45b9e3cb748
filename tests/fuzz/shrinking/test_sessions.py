"""Shrinking sessions: whole, then step by step."""

from __future__ import annotations

import pytest

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.engine.making import cook
from barnabas.fuzz.sessions.registry import seeds
from barnabas.fuzz.sessions.shortening import parts
from barnabas.fuzz.shrinking.search import shrink
from barnabas.fuzz.shrinking.sessions import SESSION_STEPS, SESSIONS

SEED = next(one for one in seeds() if one.origin.startswith("session:transaction:"))
DEEP = Recipe(SEED, (), "transaction")
STEPS = (SESSIONS, SESSION_STEPS)


@pytest.mark.parametrize(
    ("needed", "left"),
    [
        ({"InitProducerId"}, "transaction without AddPartitionsToTxn, Metadata"),
        ({"Metadata", "AddPartitionsToTxn"}, "transaction without InitProducerId"),
        ({"Metadata", "InitProducerId", "AddPartitionsToTxn"}, "transaction"),
    ],
)
def test_the_steps_that_the_bug_needs_are_left(needed: set[str], left: str) -> None:
    def fires(recipe: Recipe) -> bool:
        return bool(recipe.session) and needed.isdisjoint(parts(recipe.session)[1])

    small = shrink(DEEP, fires, steps=STEPS).recipe
    assert small.session == left
    # the case that is made of it is behind the same steps
    assert cook(small, 0).recipe.session == left
