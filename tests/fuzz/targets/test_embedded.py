"""Cases against librdkafka's mock in a process of its own."""

from __future__ import annotations

import time

import pytest

from barnabas.fuzz.cases.case import Case, Change, Live
from barnabas.fuzz.cases.observation import DIFFERS, Observation
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.connections import CaseConnection
from barnabas.fuzz.targets.crash_counts import DEATHS, DEATHS_OF_API, CrashCounts
from barnabas.fuzz.targets.embedded import EmbeddedService
from barnabas.fuzz.targets.flow import Flow
from barnabas.fuzz.targets.registry import compared
from barnabas.specs.keys import API_VERSIONS
from tests.fuzz.observed import ASK, case, request
from tests.fuzz.targets.embedded_cases import PARKED, all_at_once, asks, run

VERSIONS = request(API_VERSIONS, 0, {})
NO_SIZE = b"\x7f\xff\xff\xff" + ASK[4:]
LIVE = (Live(0, 8, 4, "correlation_id"),)


def test_what_is_under_way_when_time_is_up_is_finished_and_kept(target: BrokerTarget) -> None:
    cases, before = asks(1000), target.executed
    found = list(target.run_until(cases, lambda: target.executed > before))
    assert [one.case for one in found] == cases[: len(found)]
    assert 0 < len(found) == target.executed - before < len(cases)
    run(target, case(VERSIONS))


def test_cases_are_told_while_others_are_under_way_and_who_asks_for_no_more_leaves_them(
    target: BrokerTarget,
) -> None:
    all_at_once(target, 40)
    before = target.executed
    seen = target.run(asks(40))
    assert next(seen).replies
    assert 16 <= target.executed - before < 40
    seen.close()  # type: ignore[attr-defined]
    assert all(one.replies for one in run(target, *asks(40)))


def test_an_answer_is_waited_for_no_longer_than_somebody_wants(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("barnabas.fuzz.targets.sender.LIMIT_MS", 60_000)
    with target.patient_until(lambda: True):
        cut_short = target.sender.send_patiently(case(PARKED))
    assert cut_short.overdue
    assert cut_short.took_ms < 60_000


@pytest.mark.parametrize(("share", "at_work_ms"), [(0.1, 60_000), (0.5, 500)])
def test_who_works_on_an_answer_is_waited_for_longer(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch, share: float, at_work_ms: int
) -> None:
    monkeypatch.setattr("barnabas.fuzz.targets.sender.LIMIT_MS", 100)
    monkeypatch.setattr("barnabas.fuzz.targets.sender.AT_WORK_MS", at_work_ms)
    monkeypatch.setattr(
        "barnabas.fuzz.targets.sender.spent", lambda pid: share * time.perf_counter()
    )
    found = target.sender.send_patiently(case(PARKED))
    assert found.overdue
    assert found.took_ms >= 100
    assert (found.took_ms >= at_work_ms) is (share > 0.2)


def test_a_size_that_no_request_has_closes_the_connection(target: BrokerTarget) -> None:
    (one,) = run(target, case(NO_SIZE))
    assert one.ending in ("closed", "reset")


def test_others_go_on_while_one_is_waited_for(target: BrokerTarget) -> None:
    flow = target.sender.flow([case(PARKED), *asks(30)[1:]])
    some = flow.some(10)
    assert len(some) >= 10
    assert all(place and one.replies for place, one in some)
    assert not flow.over
    parked = next(connection for connection in flow._busy if connection.index == 0)
    assert flow.under_way(parked.port, None)
    parked.deadline = 0
    rest = dict(flow.rest())
    assert dict(rest[0].facts)["waited_ms"]
    assert len(some) + len(rest) < 30  # nothing was sent any more
    assert flow.over


def test_two_targets_that_agree_differ_in_nothing() -> None:
    mine, other = (
        BrokerTarget(EmbeddedService(), batch=16, connections=4, timeout=60, probe_timeout=60)
        for _ in "ab"
    )
    with compared(mine, other) as pair:
        found = list(pair.run([case(ASK), case(NO_SIZE)]))
        assert pair.doing == ""
        other.sender.doing = "starting it anew"
        assert pair.doing == "starting it anew"
    assert not any(dict(one.facts).get(DIFFERS) for one in found)


def test_a_case_that_somebody_asks_for_is_sent_however_often_its_kind_ended_the_process(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    killers = CrashCounts()
    monkeypatch.setattr(target, "_crash_counts", killers)
    for _ in range(DEATHS):
        killers.count_crash(case(ASK))
    assert not any(one.sent for one in run(target, *asks(2)))
    (one,) = run(target, case(ASK))
    assert one.replies


@pytest.mark.parametrize("spoil", ["closes", "answers twice"])
def test_who_suffers_from_the_case_before_is_run_again_on_a_connection_of_its_own(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch, spoil: str
) -> None:
    begin = CaseConnection.write

    def begun(connection: CaseConnection, data: bytes) -> bool:
        if connection.cases == 2 and spoil == "closes":
            raise ConnectionResetError
        if connection.cases == 2:
            connection.reader.receive(b"\0\0\0\4none")
        return begin(connection, data)

    monkeypatch.setattr(CaseConnection, "write", begun)
    target.connections.aim(target.service.address)
    executed = target.executed
    found = run(target, *(one._replace(live=LIVE) for one in asks(8)))
    for one in found:
        assert (one.ending, [reply[:4] for reply in one.replies]) == ("open", [one.sent[0][8:12]])
    assert target.executed > executed + 8


def of(mutator: str) -> Case:
    one = case(ASK)
    changes = (Change(mutator, "", 0),)
    return one._replace(recipe=one.recipe._replace(changes=changes))


def test_a_kind_that_ended_the_process_often_is_sent_no_more() -> None:
    killers = CrashCounts()
    for _ in range(DEATHS):
        assert not killers.is_frequent(of("counts"))
        killers.count_crash(of("counts"))
    assert killers.is_frequent(of("counts"))
    assert not killers.is_frequent(of("lengths"))
    assert killers.is_suspected(of("lengths"))


def test_so_is_an_api_whatever_the_mutator() -> None:
    killers = CrashCounts()
    for number in range(DEATHS_OF_API):
        killers.count_crash(of(f"mutator {number}"))
    assert killers.is_frequent(of("counts"))


def test_who_needs_a_second_look_is_told_with_those_behind_it_in_order(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_at_once(target, 40)
    looked: list[tuple[int, bool]] = []
    flows: list[Flow] = []
    send, look = target.sender.flow, target._looks.look

    def flow(cases: list[Case], timeout: float | None = None) -> Flow:
        flows.append(send(cases, timeout))
        return flows[-1]

    def look_at(one: Observation) -> Observation:
        looked.append((one.case.number, flows[-1].over))
        return look(one)

    monkeypatch.setattr(target._looks, "due", lambda one: one.case.number == 3)
    monkeypatch.setattr(target.sender, "flow", flow)
    monkeypatch.setattr(target._looks, "look", look_at)
    run(target, *asks(40))
    assert [number for number, _ in looked] == list(range(40))
    assert [over for _, over in looked] == [False] * 3 + [True] * 37
