from __future__ import annotations

from barnabas.fuzz.cases.case import Change, Recipe
from barnabas.fuzz.engine.replaying import fires_on, replay
from barnabas.fuzz.shrinking.search import shrink
from tests.fuzz.fakes import RAISED, SEEDS, FakeTarget, cook

WANTED = ("raised", ("IndexError",))


def recipe(*draws: int) -> Recipe:
    return Recipe(SEEDS[4], tuple(Change("null", "", one) for one in draws))


def test_what_fires_says_at_which_attempt() -> None:
    found = replay(FakeTarget(), [RAISED], cook(recipe(13), 0), WANTED, 3)
    assert (found.fired, found.attempt) == (True, 1)


def test_what_does_not_fire_is_tried_as_often_as_asked() -> None:
    target = FakeTarget()
    found = replay(target, [RAISED], cook(recipe(14), 7), WANTED, 3)
    assert not found.fired
    assert target.ran == [7, 7, 7]


def test_another_finding_is_not_the_one() -> None:
    found = replay(FakeTarget(), [RAISED], cook(recipe(3), 0), WANTED)
    assert not found.fired
    assert [verdict.behaviour for verdict in found.verdicts] == [("KeyError",)]


def test_shrinking_against_a_target() -> None:
    fires = fires_on(FakeTarget(), [RAISED], cook, WANTED)
    assert shrink(recipe(50, 40, 13), fires).recipe.changes == recipe(13).changes


def test_when_time_is_over_nothing_runs() -> None:
    target = FakeTarget()
    assert not fires_on(target, [RAISED], cook, WANTED, lambda: True)(recipe(13))
    assert target.ran == []


def test_what_cannot_be_cooked_does_not_fire() -> None:
    def uncookable(recipe: Recipe, number: int) -> object:
        raise LookupError

    assert not fires_on(FakeTarget(), [RAISED], uncookable, WANTED)(recipe(13))  # type: ignore[arg-type]
