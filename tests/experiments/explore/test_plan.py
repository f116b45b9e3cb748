from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from barnabas.experiments.explore.cuts import CUTS, cuts
from barnabas.experiments.explore.errors import ERRORS
from barnabas.experiments.explore.plan import plan, spread
from barnabas.experiments.explore.recording import Step

THREE = cuts(CUTS, "default")


def polls(count: int, client: str = "a", api: str = "Fetch", first: int = 1) -> list[Step]:
    return [Step(first + number, client, api, number, number) for number in range(count)]


@given(st.integers(2, 200), st.integers(2, 200))
def test_a_beginning_is_spread_evenly(count: int, first: int) -> None:
    chosen = sorted(spread(count)[:first])
    assert {chosen[0], chosen[-1]} == {0, count - 1}
    gaps = [high - low for low, high in pairwise(chosen)]
    assert max(gaps) <= 2 * min(gaps) + 2


def test_clients_and_apis_take_turns_and_an_exchange_has_all_its_cuts() -> None:
    steps = [*polls(5), *polls(1, api="Produce", first=6), *polls(2, client="b", first=7)]
    found = plan(steps, THREE, per_api=2, limit=100)
    assert [run.step.k for run in found.runs[::3]] == [1, 6, 7, 5, 8]
    assert [run.cut for run in found.runs[:3]] == list(THREE)
    assert found.left_out == {"beyond --per-api": 9}


def test_a_smaller_bound_gives_a_beginning_and_the_rest_is_counted() -> None:
    steps = [*polls(5), *polls(3, api="Produce", first=6)]
    everything = plan(steps, THREE, per_api=10, limit=100)
    assert len(everything.runs) == 24
    assert not everything.left_out
    some = plan(steps, THREE, per_api=10, limit=7)
    assert some.runs == everything.runs[:7]
    assert some.left_out == {"beyond --limit": 17}


def test_a_response_that_never_came_is_not_cut() -> None:
    found = plan([Step(1, "a", "Produce", 0, None)], THREE, per_api=1, limit=100)
    assert [run.cut for run in found.runs] == list(THREE[:2])
    assert found.left_out == {"on responses that were not recorded": 1}


def test_a_fault_that_an_api_can_not_have_is_not_put_there() -> None:
    text = "version: 1\nrules: [{name: a, do: {edit: {set: {acks: 1}}}}, {name: b, do: refuse}]"
    steps = [*polls(1), *polls(1, api="Produce", first=2)]
    found = plan(steps, cuts(text, "mine"), per_api=1, limit=100)
    assert [(run.step.api, run.cut.name) for run in found.runs] == [("Produce", "a")]
    assert found.left_out == {"with faults that do not apply to this API": 3}


def test_an_error_of_members_is_for_clients_that_have_joined() -> None:
    commit = polls(1, api="OffsetCommit", first=2)
    joined = polls(1, api="JoinGroup"), polls(1, client="b", api="JoinGroup")
    mine, others = (plan([*join, *commit], ERRORS, per_api=1, limit=100) for join in joined)
    tried, untried = (
        {run.cut.name for run in each.runs if run.step.k == 2} for each in (mine, others)
    )
    assert tried == {"COORDINATOR_LOAD_IN_PROGRESS", "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION"}
    assert untried == {"COORDINATOR_LOAD_IN_PROGRESS"}
    assert others.left_out == {"with errors that brokers do not give at that moment": 3}
    assert mine.left_out == {"with errors that brokers do not give at that moment": 1}


def test_runs_that_a_bound_leaves_out_are_those_of_faults_for_the_api() -> None:
    steps = [*polls(3, api="Produce"), *polls(2, first=4)]
    found = plan(steps, (*THREE, *ERRORS), apis=frozenset(("Produce",)), per_api=1, limit=100)
    assert len(found.runs) == 3 + 2
    assert found.left_out == {"beyond --per-api": 2 * 5, "of other APIs (--api)": 2 * 4}
