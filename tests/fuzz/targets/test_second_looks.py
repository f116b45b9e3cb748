from __future__ import annotations

from typing import Any

import pytest

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import REUSED, STACK, WAITED, Death, Observation
from barnabas.fuzz.observations.delayed_responses import LIMIT_MS
from barnabas.fuzz.targets.second_looks import CONFIRMED, FRESH, Again, SecondLooks
from barnabas.specs.keys import METADATA, PRODUCE
from tests.fuzz.observed import ASK, case, observed, request, response

ANSWER = response(METADATA, 1, {})
ANOTHERS = response(METADATA, 1, {}, correlation_id=8)
UNANSWERED = request(PRODUCE, 3, {"acks": 0, "timeout_ms": 1, "topic_data": []})
REUSED_ONE = ((REUSED, True),)
OVERDUE = ((WAITED, 3000),)
OUT = "ERROR java.lang.OutOfMemoryError: Java heap space"


class Bench:
    """Second looks at a target that says the same of each case."""

    def __init__(self, **seen: Any) -> None:
        self.ways: list[str] = []
        self._seen = seen
        self.looks = SecondLooks(Again(self.way("apart"), self.way("anew"), self.way("patiently")))

    def way(self, name: str) -> Any:
        def send(one: Case) -> Observation:
            self.ways.append(name)
            return Observation(one, **self._seen)

        return send


@pytest.mark.parametrize(
    ("first", "ways"),
    [
        ({"replies": (ANSWER,)}, []),
        ({"replies": (ANOTHERS,)}, ["apart"]),
        ({"ending": "closed"}, ["apart"]),
        ({"ending": "open"}, []),
        ({"ending": "closed", "log": ("ERROR no",)}, []),  # it ended for a reason of its own
        ({"ending": "closed", "death": Death(1, "")}, []),
    ],
)
def test_who_suffers_from_the_case_before_is_looked_at_on_a_connection_of_its_own(
    first: dict[str, Any], ways: list[str]
) -> None:
    bench = Bench(replies=(ANSWER,))
    found = bench.looks.look(observed(ASK, facts=REUSED_ONE, **first))
    assert bench.ways == ways
    assert (found == observed(ASK, facts=REUSED_ONE, **first)) is not bool(ways)
    # nobody was there before it
    bench.looks.look(observed(ASK, **first))
    # nobody is answered
    bench.looks.look(observed(UNANSWERED, facts=REUSED_ONE, **first))
    assert bench.ways == ways


def test_where_memory_ran_out_a_fresh_process_says_where_once_for_a_kind() -> None:
    traced = f"{OUT}\n\tat kafka.Somewhere.f(A.scala:1)"
    bench = Bench(log=(traced,))
    assert bench.looks.look(observed(ASK, log=(OUT,))).log == (traced,)
    like = bench.looks.look(observed(ASK, log=(OUT,)))  # its kind is known, and so is where
    assert (like.log, dict(like.facts)) == ((OUT,), {STACK: ["kafka.Somewhere.f"]})
    bench.looks.look(observed(ASK, log=(traced,)))
    bench.looks.look(observed(ASK, log=("ERROR else",)))
    assert bench.ways == ["anew"]
    other = request(PRODUCE, 3, {"acks": 1, "timeout_ms": 1, "topic_data": []})
    assert bench.looks.look(observed(other, log=(OUT,))).log == (traced,)
    assert bench.ways == ["anew"] * 2, "of another API nothing is known"


def test_so_many_fresh_processes_and_no_more() -> None:
    bench = Bench(log=(OUT,))
    for number in range(FRESH + 3):
        bench.looks.look(Observation(case(ASK, mutator=f"m{number}"), log=(OUT,)))
    assert bench.ways == ["anew"] * FRESH


def test_an_answer_that_is_overdue_is_waited_for_a_few_times_for_a_kind() -> None:
    bench = Bench(replies=(ANSWER,))
    late = observed(ASK, facts=OVERDUE)
    found = [bench.looks.look(late) for _ in range(CONFIRMED + 2)]
    assert bench.ways == ["patiently"] * CONFIRMED
    assert [one.replies for one in found] == [(ANSWER,)] * CONFIRMED + [()] * 2
    bench.looks.look(observed(request(METADATA, 2, {"topics": None}), facts=OVERDUE))
    assert len(bench.ways) == CONFIRMED + 1


def test_of_an_api_that_stays_silent_no_other_request_is_waited_for() -> None:
    bench = Bench(sent=(ASK,), facts=OVERDUE, took_ms=LIMIT_MS)
    late = observed(ASK, facts=OVERDUE)
    other = observed(request(METADATA, 2, {"topics": None}), facts=OVERDUE)
    assert bench.looks.due(late)
    for one in (late, late, other):
        bench.looks.look(one)
        assert not bench.looks.due(one)
    assert bench.ways == ["patiently"]
    cut_short = Bench(sent=(ASK,), facts=OVERDUE, took_ms=LIMIT_MS - 1)
    cut_short.looks.look(late)
    assert cut_short.looks.due(late)


def test_a_fresh_process_in_which_memory_lasts_changes_nothing() -> None:
    bench = Bench()
    assert bench.looks.look(observed(ASK, log=(OUT,))).log == (OUT,)
    assert bench.ways == ["anew"]
