"""The target with a client of the tests' own, which dies, raises and eats as it is told."""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from barnabas.fuzz.cases.case import Case, Recipe
from barnabas.fuzz.cases.json_form import recipe_of
from barnabas.fuzz.cases.observation import EARLIER, SET_ASIDE, Observation
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.oracles.registry import ORACLES_BY_NAME
from barnabas.fuzz.targets.clients.registry import client
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.peers.clients import golang
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.registry import LIBRARIES
from tests.fuzz.targets.clients.own_target import (
    OTHERS,
    OWN,
    SEED,
    cases_of,
    facts,
    own_target,
    run,
)

CLIENT_DIED = ORACLES_BY_NAME["client-died"]


@pytest.mark.parametrize(
    ("words", "about"),
    [
        ([b"fine"] * 20, {"side_by_side": 3}),
        ([b"fine"] * 5, {"argument": "shy"}),  # what it did not ask for is run once more
        ([b"patient", b"fine", b"patient"], {}),  # a session is over once it has had its case
    ],
    ids=["fine", "shy", "patient"],
)
def test_many_cases_have_one_process_and_come_in_order(
    words: list[bytes], about: dict[str, Any]
) -> None:
    result = run(*words, **about)
    assert [one.case.number for one in result] == list(range(len(words)))
    assert all(facts(one)["served"] and not one.death and not one.raised for one in result)
    assert not any(one.probe for one in result)
    assert result[0].sent == result[0].case.chunks


def test_what_a_client_never_asks_for_is_set_aside() -> None:
    result = run(*[b"raise"] * 3, argument="once")
    assert [one.case.number for one in result] == [0, 1, 2]
    assert all(facts(one)[SET_ASIDE] and not facts(one)["served"] for one in result)
    assert not any(one.sent for one in result)


def test_a_death_is_confirmed_and_what_follows_runs_again() -> None:
    result = run(b"fine", b"die", b"fine", b"abort", b"fine")
    assert [one.death.exit_code if one.death else 0 for one in result] == [0, 2, 0, -6, 0]
    assert facts(result[1])["confirmed"]
    (verdict,) = CLIENT_DIED.judge(result[1])
    assert verdict.behaviour == (
        "panic: runtime error: of the tests [N]",
        "github.com/own/client.(*C).read",
    )
    (verdict,) = CLIENT_DIED.judge(result[3])
    assert verdict.behaviour == ("signal SIGABRT", "Metadata")


def test_who_does_not_ask_when_it_is_looked_at_again_is_asked_once_more() -> None:
    class Hasty(ClientTarget):
        looks = 0

        def _run_alone(self, cases: Sequence[Case]) -> Iterator[Observation]:
            self.looks += 1
            alone = super()._run_alone(cases)
            return alone if self.looks > 1 else (Observation(one) for one in cases)

    with own_target(kind=Hasty) as target:
        (seen,) = target.run(cases_of(b"die"))
        assert target.looks == 2
    assert facts(seen)["confirmed"]


def test_a_late_death_is_put_down_to_the_case_before() -> None:
    result = run(b"fine", b"sleeper", b"fine", b"fine")
    dead = [one for one in result if one.death]
    assert [one.case.number for one in result if not one.death] == [0, 1, 2, 3]
    assert [one.case.number for one in dead] == [1]
    assert facts(dead[0])["confirmed"]


def test_a_death_that_takes_several_cases_is_told_with_how_those_before_are_made() -> None:
    (dead,) = (one for one in run(b"fine", b"half", b"fine", b"half", b"fine") if one.death)
    assert dead.case.number == 3
    assert facts(dead)["after"] == [1, 2]
    assert [recipe_of(one) for one in facts(dead)[EARLIER]] == [Recipe(SEED, ())] * 2


def test_a_death_that_no_case_shows_again_is_of_no_one_case(tmp_path: Path) -> None:
    _, dead = run(b"fine", b"first " + bytes(tmp_path / "been"))
    assert dead.death is not None
    assert dead.shared
    assert facts(dead)["together"] == [0, 1]
    assert len(list(CLIENT_DIED.judge(dead))) == 1


def test_memory_is_measured_for_each_case() -> None:
    result = run(b"fine", b"eat", b"fine")
    grown = [one.rss[1] - one.rss[0] for one in result if one.rss]
    assert grown[1] > 90 << 20
    assert grown[2] < 30 << 20


def _claims(observations: Sequence[Observation]) -> list[bool]:
    """Return whether the oracle of memory reports each case, and check that little memory was touched."""
    assert all(one.rss and one.rss[1] - one.rss[0] < 60 << 20 for one in observations)
    return [any(ORACLES_BY_NAME["client-memory"].judge(one)) for one in observations]


def test_memory_that_is_claimed_and_never_touched_is_reported() -> None:
    assert _claims(run(b"fine", b"claim", b"fine")) == [False, True, False]


def test_a_slice_in_go_that_is_never_touched_is_reported() -> None:
    sources = [*golang.SOURCES.glob("*.go"), Path(__file__).with_name("claiming.go")]
    try:
        program = golang.built("claiming", sources, (), "1.0")
    except UnavailableClientError as problem:
        pytest.skip(str(problem))
    sizes = [struct.pack(">I", size << 20) for size in (0, 100, 1024, 2047, 0)]
    assert _claims(run(*sizes, line=[str(program)])) == [False, False, True, True, False]


def test_what_it_prints_is_its_log() -> None:
    result = run(b"print")
    assert result[0].log == ("said in the log",)
    assert facts(result[0])["records"] == 1


def test_the_survey_is_what_it_asks_for() -> None:
    with own_target() as target:
        assert target.survey() == {(3, 0)}
        assert target.seeds() == [SEED, *OTHERS]


def test_a_client_that_asks_nothing_is_none() -> None:
    with own_target(line=[sys.executable, "-c", "pass"]) as target, pytest.raises(CannotRun):
        target.seeds()


def test_a_program_that_is_not_there_is_said() -> None:
    with own_target(line=["/no/such/program"]) as target, pytest.raises(CannotRun) as told:
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
    result = run(b"fine", b"abort", b"fail", line=line, each=True, side_by_side=2)
    assert all(facts(one)["served"] for one in result)
    assert [len(list(CLIENT_DIED.judge(one))) for one in result] == [0, 1, 0]


KILLED = """
import os, signal, sys
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


@pytest.mark.parametrize("name", [one.name for one in LIBRARIES if not one.sessions])
def test_a_library_without_sessions_is_no_target(name: str) -> None:
    with pytest.raises(Misuse, match=rf"^{name} has no sessions for the fuzzer"):
        client(f"{name}@1.2.3")


def test_a_command_says_where_the_broker_goes() -> None:
    assert client("command:kcat -b {bootstrap} -L").name == "command kcat"
    with pytest.raises(Misuse, match="bootstrap"):
        client("command:kcat -L")


def test_what_can_not_be_had_can_not_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(CannotRun, match=r"go\.dev"), client("sarama@1.46.2"):
        pass


def test_who_asks_for_no_more_can_run_others() -> None:
    cases = cases_of(*[b"fine"] * 9)
    with own_target(side_by_side=2) as target:
        first = next(target.run(cases))
        assert [one.case.number for one in target.run(cases[5:])] == [5, 6, 7, 8]
    assert first.case.number == 0
