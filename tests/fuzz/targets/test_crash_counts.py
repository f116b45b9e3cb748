from __future__ import annotations

from barnabas.fuzz.cases.case import Case, Change
from barnabas.fuzz.targets.crash_counts import DEATHS, DEATHS_OF_API, CrashCounts
from tests.fuzz.observed import ASK, case


def of(mutator: str) -> Case:
    one = case(ASK)
    changes = (Change(mutator, "", 0),)
    return one._replace(recipe=one.recipe._replace(changes=changes))


def test_a_kind_that_ended_the_process_often_is_sent_no_more() -> None:
    killers = CrashCounts()
    for _ in range(DEATHS):
        assert not killers.enough(of("counts"))
        killers.killed(of("counts"))
    assert killers.enough(of("counts"))
    assert not killers.enough(of("lengths"))
    assert killers.likely(of("lengths"))


def test_so_is_an_api_whatever_the_mutator() -> None:
    killers = CrashCounts()
    for number in range(DEATHS_OF_API):
        killers.killed(of(f"mutator {number}"))
    assert killers.enough(of("counts"))
