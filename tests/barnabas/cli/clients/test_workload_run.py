"""`barnabas clients do`: workloads of a client, once, and the history of it."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path

import pytest

from barnabas.experiments.explore.checks import check
from barnabas.experiments.explore.history import (
    Acknowledged,
    Assigned,
    Consumed,
    Sent,
    read,
)
from barnabas.experiments.explore.read_log import id_of, read_log
from barnabas.peers.clients.python import program
from tests.barnabas.cli.command import Ran, run

HERE = shlex.join(program(Path(sys.executable), "confluent").line)


@pytest.fixture(autouse=True)
def _bootstrap(bootstrap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARNABAS_BOOTSTRAP", bootstrap)


def do(command: str, *arguments: str) -> Ran:
    return run("clients", "do", "--command", command, *arguments)


def test_what_one_workload_wrote_the_next_one_reads(
    bootstrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BARNABAS_HISTORY", str(tmp_path / "history.jsonl"))
    monkeypatch.setenv("BARNABAS_RUN", "5f3a")
    assert do(f"here={HERE}", "--records", "12", "produce", "assign") == (0, "", "")
    history = read(tmp_path / "history.jsonl")
    assert history is not None
    assert history.topics == {"orders-5f3a"}
    counts = Counter(type(event) for event in history.events)
    assert counts[Sent] == counts[Acknowledged] == counts[Consumed] == 12
    assert counts[Assigned] == 4
    log = read_log(bootstrap, history.topics, {}, id_of("value"))
    assert len(log.records) == 12
    assert check(history, log) == ()


def test_a_history_that_goes_nowhere_is_printed() -> None:
    found = do(f"here={HERE}", "--records", "2", "--topic", "t", "produce")
    assert found.returncode == 0
    assert [each["id"] for each in found.rows if each["event"] == "sent"] == ["t-0", "t-1"]


NO_ANSWER = "produce: its program ended without an answer"


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("gone=/nowhere/at-all", 3, "No such file"),
        (r"odd=printf '\377\n'", 1, NO_ANSWER),
        (
            """odd=sh -c 'echo {\\"raised\\":null}; exit 5'""",
            1,
            "produce: its program ended with exit code 5",
        ),
        ("odd=sh -c 'sleep 600 & exit 5'", 1, NO_ANSWER),
        ("ends=true", 1, NO_ANSWER),
        ("odd=echo 1", 1, NO_ANSWER),
        ("odd=echo hi", 1, NO_ANSWER),
    ],
)
def test_what_is_wrong_with_a_program_is_said_in_a_line(command: str, code: int, said: str) -> None:
    found = do(command, "produce")
    assert (found.returncode, said in found.stderr) == (code, True), found
