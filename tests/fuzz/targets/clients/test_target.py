"""The target with a client of the tests' own, which dies, raises, eats and hangs as it is told."""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from barnabas.fuzz.answering.seeds import seeds
from barnabas.fuzz.cases.case import Case, Change, Recipe
from barnabas.fuzz.cases.json_form import recipe_of
from barnabas.fuzz.cases.observation import EARLIER, SET_ASIDE, SPINS, Observation
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.oracles.client_died import CLIENT_DIED
from barnabas.fuzz.oracles.client_hung import CLIENT_HUNG
from barnabas.fuzz.oracles.client_raised import CLIENT_RAISED
from barnabas.fuzz.targets.clients import side_by_side as module
from barnabas.fuzz.targets.clients.alarms import spinning
from barnabas.fuzz.targets.clients.ending import Ending
from barnabas.fuzz.targets.clients.limits import Limits
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.fuzz.targets.clients.worker import Worker
from barnabas.fuzz.targets.processor import spent
from barnabas.peers.clients.client import Client, Program

OWN = Path(__file__).with_name("own_client.py")
SEED, *OTHERS = seeds([(3, 0)])


def _client(line: Sequence[str] = (sys.executable, str(OWN))) -> Client:
    return Client("own", "1", lambda: Program(line))


def _case(number: int, word: bytes, *mutators: str) -> Case:
    chunk = struct.pack(">i", 4 + len(word)) + SEED.frame[:4] + word
    changes = tuple(Change(one, "topics[0].name", 0, "") for one in mutators)
    return Case(number, Recipe(SEED, changes), (chunk,))


def _run(*words: bytes, limits: Limits | None = None, side_by_side: int = 1) -> list[Observation]:
    cases = [_case(number, word) for number, word in enumerate(words)]
    with ClientTarget(_client(), limits=limits, side_by_side=side_by_side) as target:
        return list(target.run(cases))


def _facts(observation: Observation) -> dict[str, Any]:
    return dict(observation.facts)


def test_many_cases_have_one_process_and_come_in_order() -> None:
    found = _run(*[b"fine"] * 20, side_by_side=3)
    assert [one.case.number for one in found] == list(range(20))
    assert all(_facts(one)["served"] and not one.death and not one.raised for one in found)
    assert found[0].sent == found[0].case.chunks


def test_what_a_client_did_not_ask_for_is_run_once_more() -> None:
    cases = [_case(number, b"fine") for number in range(5)]
    with ClientTarget(_client((sys.executable, str(OWN), "shy")), side_by_side=1) as target:
        found = list(target.run(cases))
    assert [one.case.number for one in found] == list(range(5))
    assert all(_facts(one)["served"] for one in found)


def test_what_a_client_never_asks_for_is_set_aside() -> None:
    cases = [_case(number, b"raise") for number in range(3)]
    with ClientTarget(_client((sys.executable, str(OWN), "once")), side_by_side=1) as target:
        found = list(target.run(cases))
    assert [one.case.number for one in found] == [0, 1, 2]
    assert all(_facts(one)[SET_ASIDE] and not _facts(one)["served"] for one in found)
    assert not any(one.sent for one in found)


def test_who_asks_for_no_more_can_run_others() -> None:
    cases = [_case(number, b"fine") for number in range(9)]
    with ClientTarget(_client(), side_by_side=2) as target:
        first = next(target.run(cases))
        assert [one.case.number for one in target.run(cases[5:])] == [5, 6, 7, 8]
    assert first.case.number == 0


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
        Patient(_client(), limits=Limits(hung_s=0.5), side_by_side=1) as target,
        pytest.raises(KeyboardInterrupt),
    ):
        list(target.run([_case(0, b"hang")]))


def test_a_death_is_confirmed_and_what_follows_runs_again() -> None:
    found = _run(b"fine", b"die", b"fine", b"abort", b"fine")
    assert [one.death.exit_code if one.death else 0 for one in found] == [0, 2, 0, -6, 0]
    assert _facts(found[1])["confirmed"]
    (verdict,) = CLIENT_DIED.judge(found[1])
    assert verdict.behaviour == (
        "panic: runtime error: of the tests [N]",
        "github.com/own/client.(*C).read",
    )
    (verdict,) = CLIENT_DIED.judge(found[3])
    assert verdict.behaviour == ("signal SIGABRT", "Metadata")


def test_who_does_not_ask_when_it_is_looked_at_again_is_asked_once_more() -> None:
    class Hasty(ClientTarget):
        looks = 0

        def _run_alone(self, cases: Sequence[Case]) -> Iterator[Observation]:
            self.looks += 1
            alone = super()._run_alone(cases)
            return alone if self.looks > 1 else (Observation(one) for one in cases)

    with Hasty(_client()) as target:
        (seen,) = target.run([_case(0, b"die")])
        assert target.looks == 2
    assert _facts(seen)["confirmed"]


def test_a_late_death_is_put_down_to_the_case_before() -> None:
    found = _run(b"fine", b"sleeper", b"fine", b"fine")
    dead = [one for one in found if one.death]
    assert [one.case.number for one in found if not one.death] == [0, 1, 2, 3]
    assert [one.case.number for one in dead] == [1]
    assert _facts(dead[0])["confirmed"]


def test_a_death_that_takes_several_cases_is_told_with_how_those_before_are_made() -> None:
    (dead,) = (one for one in _run(b"fine", b"half", b"fine", b"half", b"fine") if one.death)
    assert dead.case.number == 3
    assert _facts(dead)["after"] == [1, 2]
    assert [recipe_of(one) for one in _facts(dead)[EARLIER]] == [Recipe(SEED, ())] * 2


def test_a_death_that_no_case_shows_again_is_of_no_one_case(tmp_path: Path) -> None:
    _, dead = _run(b"fine", b"first " + bytes(tmp_path / "been"))
    assert dead.death is not None
    assert dead.shared
    assert _facts(dead)["together"] == [0, 1]
    assert len(list(CLIENT_DIED.judge(dead))) == 1


def test_what_left_the_client_is_told_with_its_class_and_frames() -> None:
    found = _run(b"raise", b"thread", b"fine")
    assert found[0].raised == "own.Undocumented: m\n own/a.py:f"
    verdicts = [list(CLIENT_RAISED.judge(one)) for one in found]
    assert [len(one) for one in verdicts] == [1, 1, 0]
    assert verdicts[0][0].behaviour == ("own.Undocumented", "own/a.py:f")


def test_memory_is_measured_for_each_case() -> None:
    found = _run(b"fine", b"eat", b"fine")
    grown = [one.rss[1] - one.rss[0] for one in found if one.rss]
    assert grown[1] > 90 << 20
    assert grown[2] < 30 << 20


QUICK = Limits(hung_s=2.0)


@pytest.mark.slow("sessions that hang for seconds")
@pytest.mark.parametrize("word", [b"hang", b"spin"])
def test_what_hangs_is_confirmed_and_ended(word: bytes) -> None:
    found = _run(word, b"fine", limits=QUICK)
    assert found[0].probe is not None
    assert not found[0].probe.answered
    assert _facts(found[0])["confirmed"]
    assert _facts(found[0]).get(SPINS, False) == (word == b"spin")
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
    cases = [_case(number, word, kind) for number, kind in enumerate(kinds)]
    with Counting(_client(), limits=QUICK, side_by_side=4) as target:
        found = list(target.run(cases))
    assert target.again == 2
    assert [len(list(CLIENT_HUNG.judge(one))) for one in found] == [1] * len(kinds)


@pytest.mark.slow("a session that is given up after a second")
def test_who_waits_as_it_was_told_is_not_run_again() -> None:
    change = Change("limits", "throttle_time_ms", 0, "")
    case = _case(0, b"hang")._replace(recipe=Recipe(SEED, (change,)))
    with Counting(_client(), limits=QUICK) as target:
        (seen,) = target.run([case])
        assert target.again == 0
    assert seen.probe is not None
    assert not list(CLIENT_HUNG.judge(seen))


def test_who_computes_as_one_that_was_confirmed_is_ended_sooner() -> None:
    limits = Limits(hung_s=3600.0, spins_s=3600.0, much_s=0.1)
    with Counting(_client(), limits=limits, side_by_side=1) as target:
        target._confirmed.add(spinning(_case(0, b"spin", "nulls")))
        (seen,) = target.run([_case(0, b"spin", "nulls")])
        assert target.again == 0
    assert _facts(seen)["confirmed"]
    assert len(list(CLIENT_HUNG.judge(seen))) == 1


@pytest.mark.slow("a session that computes for a second, three times")
def test_who_is_slow_is_no_hang_and_has_its_whole_session() -> None:
    limits = Limits(hung_s=60.0, spins_s=0.5, much_s=0.05)
    (seen,) = _run(b"busy", limits=limits)  # it computes for as long as is alarming, and ends
    assert seen.probe is None
    assert not _facts(seen)["confirmed"]
    assert _facts(seen)["records"] == 1
    assert not list(CLIENT_HUNG.judge(seen))


def test_nobody_waits_for_who_hangs() -> None:
    class Reached(Exception):
        pass

    class Reaching(ClientTarget):
        def _begin(
            self, worker: Worker, case: Case, ending: Callable[[], Ending] | None = None
        ) -> None:
            if case.number == 9:
                raise Reached
            super()._begin(worker, case, ending)

    cases = [_case(0, b"hang"), *(_case(number, b"fine") for number in range(1, 10))]
    limits = Limits(hung_s=3600.0)
    with Reaching(_client(), limits=limits, side_by_side=1) as target, pytest.raises(Reached):
        list(target.run(cases))


def test_what_is_under_way_when_time_is_up_is_finished_and_kept() -> None:
    """The first one hangs, and is looked at again; those behind it are done by then."""
    begun: list[int] = []

    class Begins(ClientTarget):
        def _begin(
            self, worker: Worker, case: Case, ending: Callable[[], Ending] | None = None
        ) -> None:
            if threading.current_thread() is threading.main_thread():
                begun.append(case.number)
            super()._begin(worker, case, ending)

    cases = [_case(0, b"hang"), *(_case(number, b"fine") for number in range(1, 99))]
    with Begins(_client(), limits=Limits(hung_s=1.0), side_by_side=2) as target:
        seen = target.run_until(cases, lambda: len(begun) >= 5)
        found = [one.case.number for one in seen]
    assert found == begun
    assert len(found) < 9


def test_a_process_that_computes_without_a_session_is_ended() -> None:
    with ClientTarget(_client(), side_by_side=1) as target:
        list(target.run([_case(0, b"leak")]))
        (process,) = target._processes._all
        child = process.child
        before = spent(child.pid) or 0.0
        while (spent(child.pid) or 0.0) < before + 2 * Limits().much_s:
            os.sched_yield()
        (fine,) = target.run([_case(1, b"fine")])
        (other,) = target._processes._all
        assert other.child is not child
    assert fine.probe is None


def test_it_says_that_cases_are_run_again_while_they_are() -> None:
    with ClientTarget(_client(), limits=Limits(hung_s=1.0), side_by_side=2) as target:
        said = []
        alone = target._alone

        def looked(cases: Sequence[Case]) -> Observation:
            found = alone(cases)
            said.append(target.doing)
            return found

        target._alone = looked  # type: ignore[method-assign]
        list(target.run([_case(0, b"hang")]))
        assert said == ["running 1 case again, alone"]


def test_a_session_is_said_to_be_over_once_the_client_has_had_its_case() -> None:
    found = _run(b"patient", b"fine", b"patient", limits=Limits(hung_s=60.0))
    assert [one.case.number for one in found] == [0, 1, 2]
    assert all(_facts(one)["served"] and one.probe is None for one in found)


def test_what_it_prints_is_its_log() -> None:
    found = _run(b"print")
    assert found[0].log == ("said in the log",)
    assert _facts(found[0])["records"] == 1


def test_the_survey_is_what_it_asks_for() -> None:
    with ClientTarget(_client()) as target:
        assert target.survey() == {(3, 0)}
        assert target.seeds() == [SEED, *OTHERS]


def test_a_client_that_asks_nothing_is_none() -> None:
    with ClientTarget(_client([sys.executable, "-c", "pass"])) as target, pytest.raises(CannotRun):
        target.seeds()


def test_a_program_that_is_not_there_is_said() -> None:
    with ClientTarget(_client(["/no/such/program"])) as target, pytest.raises(CannotRun) as told:
        target.survey()
    assert "can't be started" in str(told.value)


def test_a_command_is_run_for_each_case() -> None:
    code = (
        "import socket, sys, os; host, port = sys.argv[1].split(':');"
        "sock = socket.create_connection((host, int(port)));"
        "sock.sendall(bytes.fromhex('0000000e 0003 0000 00000001 0000 00000000'));"
        "got = sock.recv(100); os.abort() if b'abort' in got else sys.exit(b'fail' in got)"
    )
    line = [sys.executable, "-c", code, "{bootstrap}"]
    cases = [_case(number, word) for number, word in enumerate((b"fine", b"abort", b"fail"))]
    with ClientTarget(_client(line), each=True, side_by_side=2) as target:
        found = list(target.run(cases))
    assert all(_facts(one)["served"] for one in found)
    assert [len(list(CLIENT_DIED.judge(one))) for one in found] == [0, 1, 0]


KILLED = """
import os, signal, sys
from barnabas.fuzz.targets.clients import side_by_side as module
from barnabas.fuzz.targets.clients.alarms import spinning
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.peers.clients.client import Client, Program
own = Client("own", "1", lambda: Program([sys.executable, sys.argv[1]]))
with ClientTarget(own, side_by_side=1) as target:
    target.newest()
    print(target._processes._all[0].child.pid, flush=True)
    sys.stdin.read()
"""


def test_a_client_does_not_outlive_who_was_killed() -> None:
    line = [sys.executable, "-c", KILLED, str(OWN)]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        child = os.pidfd_open(int(process.stdout.readline()))
        try:
            process.send_signal(signal.SIGKILL)
            assert select.select([child], [], [], 60)[0]
        finally:
            os.close(child)
