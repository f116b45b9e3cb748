from __future__ import annotations

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.targets.waiting import Waiting
from tests.fuzz.observed import ASK, case


def cases(*sessions: str) -> list[Case]:
    made = case(ASK)
    return [made._replace(recipe=made.recipe._replace(session=name)) for name in sessions]


def test_each_session_has_its_cases_in_order() -> None:
    waiting = Waiting(cases("", "joined", "", "joined"))
    assert waiting.session == ""
    assert [waiting.take(name) for name in ("joined", "", "")] == [1, 0, 2]
    assert "" not in waiting
    assert (waiting.session, waiting.last) == ("joined", 2)
    waiting.take("joined")
    assert not waiting


def test_what_stands_behind_the_last_that_was_taken_can_be_given_up() -> None:
    waiting = Waiting(cases("", "joined", "", "joined", ""))
    waiting.take("")
    waiting.take("")
    waiting.stop()
    assert waiting.take("joined") == 1
    assert not waiting
