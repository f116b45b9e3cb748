"""A program that is run once: what it said, and how it ended."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from barnabas.experiments.clients import runs
from barnabas.experiments.clients.client_process import MIB, RunStopped
from barnabas.experiments.clients.draws import Draw
from barnabas.experiments.clients.runs import (
    UNANSWERED,
    UNUSABLE,
    RunResult,
    Watch,
    parse_line,
    run,
    worst,
)
from barnabas.experiments.clients.traffic import parameters
from barnabas.experiments.clients.verdict import GAVE_UP, NOT_OFFERED
from barnabas.experiments.clients.workloads import find
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.python import program
from tests.peers.test_guard import gone
from tests.places import ROOT

ASKED = {"bootstrap": "h:1", "topic": "t", "work": {"records": 3}}
TELLS = """
import json, sys
one = json.loads(sys.stdin.readline())
print(json.dumps({"ready": True}))
print(json.dumps({"event": "sent", "id": one["run"], "topic": one["topic"]}), flush=True)
"""
SENT = b'{"event": "sent", "id": "produce", "topic": "t"}\n'
RAISES = 'print(json.dumps({"number": 1, "raised": {"class": "a.B", "message": "no"}}))'


def ran(tmp_path: Path, code: str, limit: float = 60) -> RunResult:
    program = Program([sys.executable, "-c", TELLS + code])
    watch = Watch(limit, threading.Event())
    return run(program, "produce", ASKED, tmp_path / "output.txt", watch)


@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        ("{'number': 1, 'raised': None}", ""),
        ("{'number': 2, 'raised': None}", UNANSWERED),
        ("{'number': 1}", UNANSWERED),
    ],
)
def test_it_is_over_when_it_says_so_of_what_it_was_asked(
    answer: str, raised: str, tmp_path: Path
) -> None:
    assert ran(tmp_path, f"print(json.dumps({answer}))").raised == raised


def test_what_it_raised_and_how_it_died(tmp_path: Path) -> None:
    assert ran(tmp_path, RAISES).raised == "a.B: no"
    result = ran(tmp_path, "import os; os.abort()")
    assert (result.code, result.history) == (-6, SENT)


def test_idle_is_the_time_since_a_record_was_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str | bytes] = []

    def parse(line: str | bytes) -> dict[str, Any]:
        lines.append(line)
        return parse_line(line)

    monkeypatch.setattr(runs, "parse_line", parse)
    monkeypatch.setattr(runs, "time", SimpleNamespace(monotonic=lambda: len(lines)))
    code = """
for number in (1, 2, 2, 2):
    print(json.dumps({"event": "consumed", "id": number}))
    print(json.dumps({"event": "assigned", "id": "x"}))
"""
    result = ran(tmp_path, code)
    assert (result.seconds, result.idle) == (10, 5)  # a line takes a second; two come before


def test_the_worst_of_two_runs_is_late_as_the_longer_one() -> None:
    done = RunResult(b"a\n", "", 0, seconds=5.0, idle=0.1)
    late = RunResult(b"b\n", "", None, seconds=200.0, idle=120.0)
    failed = RunResult(b"c\n", "X: no", 0, seconds=1.0, idle=1.0)
    assert worst([done, late]) == RunResult(b"a\nb\n", "", None, 200.0, 120.0)
    assert worst([done, failed]) == RunResult(b"a\nc\n", "X: no", 0, 5.0, 0.1)


def test_one_that_hangs_is_ended_with_what_it_started_and_says_where(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    code = f"""
import faulthandler, pathlib, signal, subprocess, time
faulthandler.register(signal.SIGQUIT)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path({str(begun)!r}).touch()
time.sleep(600)
"""

    def await_it(pid: int) -> None:
        until = time.monotonic() + 60
        while not begun.exists() and time.monotonic() < until:
            time.sleep(0.01)

    program = Program([sys.executable, "-c", TELLS + code])
    output, stop = tmp_path / "output.txt", threading.Event()
    result = run(program, "produce", ASKED, output, Watch(1, stop, await_it))
    assert (result.code, result.history) == (None, SENT)
    assert "most recent call first" in (tmp_path / "output.txt").read_text()


def test_one_that_never_reads_a_large_task_is_ended(tmp_path: Path) -> None:
    task = {**ASKED, "work": {"rounds": "x" * MIB}}
    program = Program([sys.executable, "-c", "import time; time.sleep(600)"])
    ended = run(program, "produce", task, tmp_path / "output.txt", Watch(0.5, threading.Event()))
    assert ended.code is None


def test_all_can_be_ended(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    program = Program([sys.executable, "-c", "import time; time.sleep(600)"])
    with pytest.raises(RunStopped):
        run(program, "produce", ASKED, tmp_path / "output.txt", Watch(600, stop))


@pytest.mark.parametrize(("workload", "told"), [("produce", GAVE_UP), ("no-such", NOT_OFFERED)])
def test_what_a_program_of_ours_raises_is_told_as_the_judge_knows_it(
    workload: str, told: str, tmp_path: Path
) -> None:
    ours = program(Path(sys.executable), "confluent")
    work = {**parameters(Draw(sends=1), find("produce"), "t", 0), "patience": 0.1, "stay": 0}
    requested = {"bootstrap": "127.0.0.1:1", "topic": "t", "work": work}
    watch = Watch(60, threading.Event())
    result = run(ours, workload, requested, tmp_path / "output.txt", watch)
    assert result.raised.startswith(told)


ENDLESS = "while True: sys.{}.buffer.write(b'x' * 100 + b'\\n')"


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        (ENDLESS.format("stdout"), "printed more than 32 MiB"),
        (ENDLESS.format("stderr"), "printed more than 32 MiB"),
        ("print('x' * (3 << 20))", "printed a line of more than 1 MiB"),
        (
            'print(json.dumps({"event": "sent", "id": "x" * 5000, "topic": "t"}))',
            "told an event of more than 4096 bytes",
        ),
    ],
)
def test_one_that_prints_without_end_is_ended(tmp_path: Path, code: str, raised: str) -> None:
    result = ran(tmp_path, code)
    assert (result.raised, result.code, result.history) == (f"{UNUSABLE}it {raised}", 0, b"")
    assert (tmp_path / "output.txt").stat().st_size < 17 * MIB


def test_what_it_prints_beside_is_kept_up_to_a_size_and_so_it_says(tmp_path: Path) -> None:
    result = ran(tmp_path, "sys.stderr.write('x' * (20 << 20))")
    assert (result.raised, result.code, result.history) == (UNANSWERED, 0, SENT)
    assert (tmp_path / "output.txt").read_bytes()[16 * MIB :] == b"\n(more than 16 MiB: not kept)\n"


@pytest.mark.parametrize(
    "line",
    [b"[" * 100_000 + b"]" * 100_000, b'{"event":' * 100_000, b'{"event": "\xff"}', b"9" * 5000],
)
def test_what_can_t_be_read_is_none_of_its_lines(line: bytes) -> None:
    assert parse_line(line) == {}


LEAVES = """
import subprocess
child = subprocess.Popen(["sleep", "600"], start_new_session={})
print(child.pid, file=sys.stderr)
"""


@pytest.mark.parametrize("session", [False, True])
def test_one_that_has_ended_is_not_waited_for_and_what_it_started_ends(
    session: bool, tmp_path: Path
) -> None:
    result = ran(tmp_path, LEAVES.format(session) + RAISES, 120)
    assert (result.raised, result.code, result.seconds < 60) == ("a.B: no", 0, True)
    assert gone(int((tmp_path / "output.txt").read_text()))


RUNS = """
import sys, threading
from pathlib import Path
from barnabas.experiments.clients.runs import Watch, run
from barnabas.peers.clients.client import Program
here = Path(sys.argv[1])
program = Program([sys.executable, "-c", sys.argv[2], str(here / "pid")])
run(program, "produce", {}, here / "output.txt", Watch(600, threading.Event()))
"""
KILLS = """
import os, signal, sys, time
from pathlib import Path
sys.stdin.read()
Path(sys.argv[1]).write_text(str(os.getpid()))
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(600)
"""


def test_it_does_not_outlive_us_if_we_are_killed(tmp_path: Path) -> None:
    us = [sys.executable, "-c", RUNS, str(tmp_path), KILLS]
    subprocess.run(us, timeout=60, check=False, cwd=ROOT)
    assert gone(int((tmp_path / "pid").read_text()))
