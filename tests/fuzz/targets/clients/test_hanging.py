"""Sessions of a client that hang, or take long: found, looked at again, and nobody waits for them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from barnabas.fuzz.cases.case import Case, Change, Recipe
from barnabas.fuzz.cases.observation import SPINS, Observation, Probe
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.targets.clients import scheduler as module
from barnabas.fuzz.targets.clients.alarms import spinning
from barnabas.fuzz.targets.clients.confirmation import AlarmConfirmation
from barnabas.fuzz.targets.clients.limits import EndLimits, Limits
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.fuzz.targets.clients.worker import Worker
from barnabas.fuzz.targets.process_usage import spent
from tests.fuzz.targets.clients.own_target import (
    QUICK,
    SEED,
    case_of,
    cases_of,
    facts,
    own_target,
    run,
)
from tests.waiting import SOON, until

CLIENT_HUNG = ORACLES_BY_NAME["client-hung"]


def test_who_is_interrupted_does_not_wait_for_cases_that_are_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, again, wait = threading.current_thread(), threading.Event(), module.wait

    class Patient(ClientTarget):
        def _alone(self, cases: Sequence[Case]) -> Observation:
            self._limits = Limits(hung_s=3600.0)  # it would take twice that
            again.set()
            return super()._alone(cases)

    def interrupted(*arguments: Any) -> None:
        if again.is_set() and threading.current_thread() is here:
            raise KeyboardInterrupt
        wait(*arguments)

    monkeypatch.setattr(module, "wait", interrupted)
    with (
        own_target(kind=Patient, limits=Limits(hung_s=0.5)) as target,
        pytest.raises(KeyboardInterrupt),
    ):
        list(target.run(cases_of(b"hang")))


@pytest.mark.slow("sessions that hang for seconds")
@pytest.mark.parametrize("word", [b"hang", b"spin"])
def test_what_hangs_is_confirmed_and_ended(word: bytes) -> None:
    found = run(word, b"fine", limits=QUICK)
    assert found[0].probe is not None
    assert not found[0].probe.answered
    assert facts(found[0])["confirmed"]
    assert facts(found[0]).get(SPINS, False) == (word == b"spin")
    (verdict,) = CLIENT_HUNG.judge(found[0])
    assert verdict.behaviour == ("Metadata", "computes" if word == b"spin" else "waits")
    assert found[1].probe is None


class Counting(ClientTarget):
    """Counts what is run again, alone."""

    again = 0

    def _alone(self, cases: Sequence[Case]) -> Observation:
        self.again += 1
        return super()._alone(cases)


@pytest.mark.slow("sessions that are given up after seconds")
@pytest.mark.parametrize("word", [b"hang", b"spin"])
def test_hangs_of_one_kind_are_confirmed_once(word: bytes) -> None:
    kinds = ("nulls", "lengths", "nulls", "nulls", "lengths", "nulls")
    cases = [case_of(number, word, kind) for number, kind in enumerate(kinds)]
    with own_target(kind=Counting, limits=QUICK, side_by_side=4) as target:
        found = list(target.run(cases))
    assert target.again == 1  # of one API and field, whatever the mutator
    assert [len(list(CLIENT_HUNG.judge(one))) for one in found] == [1] * len(kinds)


@pytest.mark.parametrize(("hangs", "looks"), [(True, [0]), (False, [0, 1, 2])])
def test_alarms_alike_wait_for_the_one_that_is_looked_at(hangs: bool, looks: list[int]) -> None:
    """Once it is confirmed, so are they; otherwise the next one is looked at."""
    go_on, looked, found = threading.Event(), list[int](), dict[int, list[Observation]]()

    def seen(case: Case, hung: bool) -> Observation:
        probe = Probe(False, 2000.0, "a session had not ended") if hung else None
        return Observation(case, ending="open", took_ms=1.0, probe=probe)

    def alone(cases: Sequence[Case]) -> Observation:
        assert go_on.wait(SOON)
        looked.append(cases[-1].number)
        return seen(cases[-1], hangs)

    with ThreadPoolExecutor(1) as threads:
        confirming = AlarmConfirmation(threads, set(), alone, 1 << 30)
        for number in range(3):
            assert confirming.see(number, seen(case_of(number, b"", "nulls"), True), []) is None
        go_on.set()
        until(lambda: found.update(confirming.ended()) or len(found) == 3)
    assert looked == looks
    assert [facts(one)["confirmed"] for (one,) in found.values()] == [hangs] * 3


@pytest.mark.slow("a session that is given up after a second")
def test_who_waits_as_it_was_told_is_not_run_again() -> None:
    change = Change("limits", "throttle_time_ms", 0, "")
    case = case_of(0, b"hang")._replace(recipe=Recipe(SEED, (change,)))
    with own_target(kind=Counting, limits=QUICK) as target:
        (seen,) = target.run([case])
        assert target.again == 0
    assert seen.probe is not None
    assert not list(CLIENT_HUNG.judge(seen))


@pytest.mark.slow("a session that computes for a second, three times")
def test_who_is_slow_is_no_hang_and_has_its_whole_session() -> None:
    limits = Limits(hung_s=60.0, spins_s=0.5, much_s=0.05)
    (seen,) = run(b"busy", limits=limits)  # it computes for as long as is alarming, and ends
    assert seen.probe is None
    assert not facts(seen)["confirmed"]
    assert facts(seen)["records"] == 1
    assert not list(CLIENT_HUNG.judge(seen))


class Begins(ClientTarget):
    """Says what begins, of those that are not looked at again."""

    def __init__(self, *arguments: Any, **about: Any) -> None:
        super().__init__(*arguments, **about)
        self.begun: list[int] = []

    def _begin(
        self, worker: Worker, case: Case, ending: Callable[[], EndLimits] | None = None
    ) -> None:
        if threading.current_thread() is threading.main_thread():
            self.begun.append(case.number)
        super()._begin(worker, case, ending)


def test_what_is_under_way_when_time_is_up_is_finished_and_kept() -> None:
    """The first one hangs, and is looked at again; those behind it are done by then."""
    cases = cases_of(b"hang", *[b"fine"] * 98)
    with own_target(kind=Begins, limits=Limits(hung_s=1.0), side_by_side=2) as target:
        seen = target.run_until(cases, lambda: len(target.begun) >= 5)
        found = [one.case.number for one in seen]
    assert found == target.begun
    assert len(found) < 9


def test_a_process_that_computes_without_a_session_is_ended() -> None:
    with own_target() as target:
        list(target.run(cases_of(b"leak")))
        (process,) = target._processes._all
        child = process.child
        before = spent(child.pid) or 0.0
        while (spent(child.pid) or 0.0) < before + 2 * Limits().much_s:
            os.sched_yield()
        (fine,) = target.run([case_of(1, b"fine")])
        (other,) = target._processes._all
        assert other.child is not child
    assert fine.probe is None


def test_who_computes_as_one_that_was_confirmed_is_ended_sooner() -> None:
    limits = Limits(hung_s=3600.0, spins_s=3600.0, much_s=0.1)
    with own_target(kind=Counting, limits=limits) as target:
        target._confirmed.add(spinning(case_of(0, b"spin", "nulls")))
        (seen,) = target.run([case_of(0, b"spin", "nulls")])
        assert target.again == 0
    assert facts(seen)["confirmed"]
    assert len(list(CLIENT_HUNG.judge(seen))) == 1


def test_cases_run_one_by_one_with_their_alarms_confirmed() -> None:
    with own_target() as target:
        died, fine = target.one_by_one(cases_of(b"die", b"fine"))
    assert died.death is not None
    assert facts(died)["confirmed"]
    assert fine.death is None
    assert "confirmed" not in facts(fine)


def test_a_closed_run_one_by_one_does_not_wait_for_hanging_cases() -> None:
    with own_target(limits=Limits(hung_s=3600.0)) as target:
        observations = target.one_by_one(cases_of(b"fine", b"hang"))
        assert facts(next(observations))["served"]
        observations.close()
