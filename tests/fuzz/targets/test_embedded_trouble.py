"""librdkafka's mock dies, hangs, computes on or logs errors: who is blamed, and what is started anew."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain

import pytest

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import COMPUTES, Death, Observation, Probe
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.embedded import EmbeddedService
from barnabas.fuzz.targets.flow import Flow, Placed
from barnabas.fuzz.targets.health import HealthCheck
from barnabas.fuzz.targets.log_attribution import Unattributed
from barnabas.fuzz.targets.prober import Prober
from barnabas.fuzz.targets.sender import WORN
from tests.fuzz.observed import ASK, case
from tests.fuzz.targets.embedded_cases import PARKED, all_at_once, asks, give_up_parked, run

NULL = """\
[handler-3] ERROR k.ReplicaManager - append to t-{}
java.lang.NullPointerException: record
\tat kafka.log.Validator.validate(Validator.scala:191)"""


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who leaves a probe unanswered is not given time to die."""
    monkeypatch.setattr("barnabas.fuzz.targets.health.DYING_S", 0)


def kill(target: BrokerTarget) -> None:
    """Kill its process; it is dead before the next case."""
    service = target.service
    assert isinstance(service, EmbeddedService)
    assert service.pid is not None
    os.kill(service.pid, 6)
    os.waitid(os.P_PID, service.pid, os.WEXITED | os.WNOWAIT)


def test_cases_that_are_left_when_no_session_can_be_had_go_to_the_one_started_anew(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_at_once(target, 64)
    before, counts, batch_of = target.restarts, target.connections.counts, target._batch_of
    counts.succeeded = True

    def worn(flow: Flow, alone: bool) -> list[Placed]:
        result = batch_of(flow, alone)
        counts.failing = 0 if target.restarts > before else WORN
        return result

    monkeypatch.setattr(target, "_batch_of", worn)
    run(target, *asks(64))
    assert target.restarts == before + 1


@pytest.mark.usefixtures("no_wait")
def test_an_unanswered_probe_beside_others_is_asked_again_and_blames_nobody(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([Probe(False, 5.0, "no answer within 5 s")])
    probe = target.prober.probe
    monkeypatch.setattr(target.prober, "probe", lambda *asks: next(answers, None) or probe(*asks))
    restarts = target.restarts
    result = run(target, *asks(40))
    assert all(one.replies for one in result)
    # the last one of a batch may have a probe of its own
    assert all(one.probe is None or one.probe.answered for one in result)
    assert not any("blamed" in dict(one.facts) for one in result)
    assert target.restarts == restarts


@pytest.mark.usefixtures("no_wait")
def test_a_probe_that_stays_unanswered_restarts_the_process_and_ends_with_one_case(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    guilty = case(ASK, number=7)
    begin, probe, send = target.service.start, target.prober.probe, target.sender.flow
    hung = False

    def flow(cases: list[Case], timeout: float | None = None) -> Flow:
        nonlocal hung
        hung = hung or guilty in cases
        return send(cases, timeout)

    def start() -> None:
        nonlocal hung
        hung = False
        begin()

    monkeypatch.setattr(target.sender, "flow", flow)
    monkeypatch.setattr(target.service, "start", start)
    monkeypatch.setattr(
        target.prober, "probe", lambda *asks: Probe(False, 5.0, "no") if hung else probe(*asks)
    )
    doing: list[str] = []
    perform = target.sender.perform

    def performed(cases: list[Case]) -> list[Observation]:
        doing.append(target.doing)
        return perform(cases)

    monkeypatch.setattr(target.sender, "perform", performed)
    result = run(target, *asks(4), guilty)
    assert set(doing) == {"looking for the case that caused an unanswered probe, one of 5"}
    assert target.doing == ""
    assert [one.case.number for one in result if dict(one.facts).get("blamed")] == [7]


def test_a_late_case_behind_which_the_process_computes_on_is_blamed_and_waited_for_no_longer(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_up_parked(monkeypatch)
    guilty = case(PARKED, number=7)
    perform, restart = target.sender.perform, target.sender.restart
    computes = True

    def performed(cases: Sequence[Case]) -> list[Observation]:
        nonlocal computes
        computes = guilty in cases
        return perform(cases)

    def anew() -> None:
        nonlocal computes
        computes = False
        restart()

    monkeypatch.setattr(target.sender, "perform", performed)
    monkeypatch.setattr(target.sender, "restart", anew)
    monkeypatch.setattr(target._computing, "find_thread", lambda over: 7 if computes else None)
    monkeypatch.setattr(target.sender, "send_patiently", None)
    result = run(target, *asks(7), guilty, case(ASK, number=8))
    assert [one.case.number for one in result if COMPUTES in dict(one.facts)] == [7]
    assert not computes


@pytest.mark.usefixtures("no_wait")
def test_what_was_only_busy_is_waited_for_and_not_started_again(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(target, case(ASK))
    unanswered = iter([False, False])  # one behind the case, one behind those under way beside it
    again = iter([True, True, False, True, True, True, True])
    answers = chain(unanswered, again)
    requested: list[Probe] = []

    def probe(*asks: object) -> Probe:
        requested.append(Probe(next(answers, True), 5.0))
        return requested[-1]

    monkeypatch.setattr(target.sender, "_start_s", 1000.0)
    monkeypatch.setattr(target.prober, "probe", probe)
    restarts = target.restarts
    (one,) = run(target, case(ASK))
    assert one.probe is not None
    assert not one.probe.answered
    assert run(target, case(ASK))[0].replies
    assert len(requested) == 2 + 7 + 1  # until four in a row, then behind the case
    assert target.restarts == restarts


def test_more_cases_are_given_at_once_while_all_goes_well_and_fewer_behind_a_death() -> None:
    with BrokerTarget(
        EmbeddedService(), batch=8, connections=4, timeout=60, probe_timeout=60
    ) as target:
        given = [target.at_once]
        for _ in range(5):
            run(target, *asks(target.at_once))
            given.append(target.at_once)
        assert given == [8, 16, 32, 64, 128, 128]
        kill(target)
        run(target, *asks(10))
        assert target.at_once == 64


def log_errors(target: BrokerTarget, patch: pytest.MonkeyPatch, guilty: set[int]) -> None:
    """Its log says, without whose it is, what has come of some cases."""
    entries: list[str] = []
    send = target.sender.flow

    def flow(cases: list[Case], timeout: float | None = None) -> Flow:
        entries.extend(NULL.format(one.number) for one in cases if one.number in guilty)
        return send(cases, timeout)

    def log() -> tuple[str, ...]:
        lines = tuple(entries)
        entries.clear()
        return lines

    patch.setattr(target.sender.health, "unattributed", Unattributed())
    patch.setattr(target.sender, "flow", flow)
    patch.setattr(target.service, "log", log)


@pytest.mark.parametrize("guilty", [{9}, {1, 3, 9, 12, 13}, set(range(16))])
def test_an_entry_that_names_nobody_is_the_one_case_s_that_shows_it_alone(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch, guilty: set[int]
) -> None:
    log_errors(target, monkeypatch, guilty)
    result = run(target, *asks(16))
    one, *others = (one for one in result if one.log)
    assert {each.case.number for each in (one, *others)} <= guilty
    assert not any(each.shared for each in result)
    executed = target.executed
    run(target, *asks(16))
    assert target.executed == executed + 16
    (again,) = run(target, one.case)
    assert again.log == one.log


def test_what_several_cases_do_is_told_of_the_last_when_they_are_run_together(
    target: BrokerTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_errors(target, monkeypatch, {3, 5})
    before = target.executed
    some = asks(6)[3:]
    *others, last = target.together(some)
    assert target.executed == before + 3, "nobody is looked for"
    assert [one.case for one in (*others, last)] == some
    assert all(one.replies for one in (*others, last))
    assert last.shared
    assert [entry.splitlines()[0][-3:] for entry in last.log] == ["t-3", "t-5"]
    assert not any(one.log for one in others)


class Lives:
    """A service that goes on. looked: how often it was asked whether it has ended."""

    looked = 0

    def death(self) -> Death | None:
        self.looked += 1
        return None


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_it_is_waited_for_once_until_a_probe_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.fuzz.targets.health.time", Clock())
    service = Lives()
    health = HealthCheck(service, Prober())  # type: ignore[arg-type]
    waited = []
    for answered in (True, False, False, True, False):
        before = service.looked
        assert health.death(Probe(answered, 1.0)) is None
        waited.append(service.looked - before > 1)
    assert waited == [False, True, False, False, True]
