"""A program that is run once: what it said, and how it ended."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from barnabas.experiments.clients.running import UNANSWERED, Ended, Stopped, run
from barnabas.experiments.clients.verdict import GAVE_UP, NOT_OFFERED
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.python import program

ASKED = {"bootstrap": "h:1", "topic": "t", "work": {"records": 3}}
TELLS = """
import json, sys
one = json.loads(sys.stdin.readline())
print(json.dumps({"ready": True}))
print(json.dumps({"event": "sent", "id": one["run"], "topic": one["topic"]}), flush=True)
"""
SENT = b'{"event": "sent", "id": "produce", "topic": "t"}\n'
RAISES = 'print(json.dumps({"number": 1, "raised": {"class": "a.B", "message": "no"}}))'


def ran(tmp_path: Path, code: str, limit: float = 20) -> Ended:
    program = Program([sys.executable, "-c", TELLS + code])
    return run(program, "produce", ASKED, limit, tmp_path / "output.txt", threading.Event())


def test_its_events_are_kept_and_what_it_printed_beside(tmp_path: Path) -> None:
    found = ran(tmp_path, "print('not JSON'); print('words', file=sys.stderr)")
    assert (found.history, found.raised, found.code) == (SENT, UNANSWERED, 0)
    assert (tmp_path / "output.txt").read_text() == "words\n"


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
    found = ran(tmp_path, "import os; os.abort()")
    assert (found.code, found.history) == (-6, SENT)


def test_one_that_hangs_is_ended_with_what_it_started_and_says_where(tmp_path: Path) -> None:
    code = """
import faulthandler, signal, subprocess, time
faulthandler.register(signal.SIGQUIT)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
time.sleep(600)
"""
    found = ran(tmp_path, code, 1)
    assert (found.code, found.history) == (None, SENT)
    assert "most recent call first" in (tmp_path / "output.txt").read_text()


def test_all_can_be_ended(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    program = Program([sys.executable, "-c", "import time; time.sleep(600)"])
    with pytest.raises(Stopped):
        run(program, "produce", ASKED, 600, tmp_path / "output.txt", stop)


@pytest.mark.parametrize(("workload", "told"), [("produce", GAVE_UP), ("no-such", NOT_OFFERED)])
def test_what_a_program_of_ours_raises_is_told_as_the_judge_knows_it(
    workload: str, told: str, tmp_path: Path
) -> None:
    ours = program(Path(sys.executable), "confluent")
    work = {"records": 1, "partitions": 1, "patience": 0.1, "pause": 0, "stay": 0}
    asked = {"bootstrap": "127.0.0.1:1", "topic": "t", "work": work}
    found = run(ours, workload, asked, 20, tmp_path / "output.txt", threading.Event())
    assert found.raised.startswith(told)
