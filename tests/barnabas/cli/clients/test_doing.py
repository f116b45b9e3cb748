"""`barnabas clients do`: workloads of a client, once, and the history of it."""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from barnabas.cli.app import app
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
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.trouble import Trouble

HERE = shlex.join(program(Path(sys.executable), "confluent").line)


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    with EmbeddedCluster(1) as cluster:
        yield cluster.bootstrap


def do(bootstrap: str, *arguments: str, **variables: str) -> tuple[int, str, str]:
    told = {"BARNABAS_BOOTSTRAP": bootstrap, **variables}
    result = CliRunner().invoke(app, ["clients", "do", *arguments], env=told)
    if isinstance(result.exception, Trouble):
        return result.exception.code, result.stdout, str(result.exception)
    return result.exit_code, result.stdout, result.stderr


def test_what_one_workload_wrote_the_next_one_reads(bootstrap: str, tmp_path: Path) -> None:
    told = {"BARNABAS_HISTORY": str(tmp_path / "history.jsonl"), "BARNABAS_RUN": "5f3a"}
    found = do(
        bootstrap, "--command", f"here={HERE}", "--records", "12", "produce", "assign", **told
    )
    assert found == (0, "", "")
    history = read(tmp_path / "history.jsonl")
    assert history is not None
    assert history.topics == {"orders-5f3a"}
    counts = Counter(type(event) for event in history.events)
    assert counts[Sent] == counts[Acknowledged] == counts[Consumed] == 12
    assert counts[Assigned] == 4
    log = read_log(bootstrap, history.topics, {}, id_of("value"))
    assert len(log.records) == 12
    assert check(history, log) == ()


def test_a_history_that_goes_nowhere_is_printed(bootstrap: str) -> None:
    code, out, _ = do(
        bootstrap, "--command", f"here={HERE}", "--records", "2", "--topic", "t", "produce"
    )
    assert code == 0
    events = [json.loads(line) for line in out.splitlines()]
    assert [each["id"] for each in events if each["event"] == "sent"] == ["t-0", "t-1"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ("--command", f"here={HERE}", "nothing"),
            2,
            "unknown workload 'nothing'; choose from produce",
        ),
        (("produce",), 2, "give one --client NAME@VERSION"),
        (("--client", "none@1", "produce"), 2, "unknown client 'none@1'"),
        (("--command", "gone=/nowhere/at-all", "produce"), 3, "No such file"),
        (("--command", "odd=x='a", "produce"), 2, "is no command line: No closing quotation"),
        (("--command", r"odd=printf '\377\n'", "produce"), 1, "ended without an answer"),
        (
            ("--command", """odd=sh -c 'echo {\\"raised\\":null}; exit 5'""", "produce"),
            1,
            "produce: its program ended with exit code 5",
        ),
        (("--command", "odd=sh -c 'sleep 600 & exit 5'", "produce"), 1, "without an answer"),
        (
            ("-b", "127.0.0.1:1", "--command", "odd=true", "produce"),
            3,
            "127.0.0.1:1 can't be reached",
        ),
        (("--command", "ends=true", "produce"), 1, "produce: its program ended without an answer"),
        (("--command", "odd=echo 1", "produce"), 1, "produce: its program ended without an answer"),
        (
            ("--command", "odd=echo hi", "produce"),
            1,
            "produce: its program ended without an answer",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    arguments: tuple[str, ...], code: int, said: str, bootstrap: str
) -> None:
    found = do(bootstrap, *arguments)
    assert (found[0], said in found[2]) == (code, True), found
