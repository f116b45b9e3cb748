from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.fuzz.cases.case import Case, Change, Recipe
from barnabas.fuzz.cases.observation import Death, Observation
from barnabas.fuzz.engine.bisection import bisect
from barnabas.fuzz.engine.replay import alike, fires_on, replay
from barnabas.fuzz.engine.stats import Behaviour
from barnabas.fuzz.oracles.oracle import Oracle
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.shrinking.search import shrink
from tests.fuzz.fakes import RAISED, SEEDS, FakeTarget, cook
from tests.fuzz.observed import ASK, observed

CLOSING = ORACLES_BY_NAME["closing"]
DIED = ORACLES_BY_NAME["died"]
FATAL = ORACLES_BY_NAME["fatal"]

WANTED = ("raised", ("IndexError",))


def recipe(*draws: int) -> Recipe:
    return Recipe(SEEDS[4], tuple(Change("null", "", one) for one in draws))


class Once(FakeTarget):
    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        for one in super().run(cases):
            yield one if len(self.ran) == 1 else replace(one, raised="")


def test_what_was_wrong_at_any_attempt_is_told() -> None:
    found = replay(Once(), [RAISED], [cook(recipe(3), 0)], WANTED, 3)
    assert (found.outcome, len(found.verdicts)) == ("another", 1)
    assert replay(FakeTarget(), [RAISED], [cook(recipe(14), 0)], WANTED, 3).outcome == "nothing"


OUT = "[a] ERROR b - c\njava.lang.OutOfMemoryError: Java heap space"
STACK = "\n\tat kafka.server.KafkaApis.handle(KafkaApis.scala:1)"


def of(oracle: Oracle, **seen: Any) -> Behaviour:
    (verdict,) = oracle.judge(observed(ASK, **seen))
    return verdict.oracle, verdict.behaviour


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (of(FATAL, log=(OUT,)), of(FATAL, log=(OUT + STACK,)), True),  # a new process has stacks
        (of(FATAL, log=(OUT,)), of(FATAL, log=(OUT,)), True),
        (of(FATAL, log=(OUT,)), of(FATAL, log=(OUT.replace("OutOfMemory", "StackOverflow"),)), False),
        (of(FATAL, log=(OUT + STACK,)), of(FATAL, log=(OUT + STACK.replace("Apis", "Raft"),)), False),
        (of(DIED, death=Death(-11, "")), of(DIED, death=Death(-6, "")), False),
        (of(DIED, death=Death(-11, "")), of(CLOSING, ending="closed"), False),
        (of(CLOSING, ending="closed"), of(CLOSING, ending="closed", log=(OUT + STACK,)), True),
    ],
)  # fmt: skip
def test_a_behaviour_is_told_from_others_as_far_as_both_tell(
    one: Behaviour, other: Behaviour, same: bool
) -> None:
    assert (alike(one, other), alike(other, one)) == (same, same)


def test_shrinking_against_a_target() -> None:
    fires = fires_on(FakeTarget(), [RAISED], cook, WANTED)
    assert shrink(recipe(50, 40, 13), fires).recipe.changes == recipe(13).changes


def test_when_time_is_over_nothing_runs() -> None:
    target = FakeTarget()
    assert not fires_on(target, [RAISED], cook, WANTED, lambda: True)(recipe(13))
    assert target.ran == []


@given(st.data())
def test_the_range_is_found_with_few_trials(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 200))
    releases = [str(number) for number in range(count)]
    oldest = data.draw(st.integers(0, count - 1))
    newest = data.draw(st.integers(oldest, count - 1))
    known = data.draw(st.integers(oldest, newest))
    found = bisect(releases, str(known), lambda one: oldest <= int(one) <= newest)
    assert found is not None
    assert (found.oldest, found.newest) == (str(oldest), str(newest))
    assert len(found.tried) <= 3 + 2 * count.bit_length()


def test_one_that_does_not_show_it_any_more_has_no_range() -> None:
    assert bisect(["1", "2", "3"], "2", lambda _: False) is None
