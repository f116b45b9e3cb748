"""`barnabas clients` as a person uses it: the client of the documents, before librdkafka's mock."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.barnabas.cli.command import run
from tests.barnabas.cli.test_app import BARNABAS
from tests.places import ROOT
from tests.running import running

pytestmark = [pytest.mark.timeout(120), pytest.mark.slow("each runs a client several times")]

REFUSED = """
version: 1
rules: [{name: refused, match: {api: Produce, direction: request}, do: {respond: {error: MESSAGE_TOO_LARGE}}}]
"""
SCENARIO = ("--scenario", "refused.yaml", "--broker", "librdkafka", "--trials", 1)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program that docs/howto/clients.md shows, and a scenario."""
    text = (ROOT / "docs" / "howto" / "clients.md").read_text()
    (shown,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(shown.splitlines()) <= 60
    (tmp_path / "mine.py").write_text(shown)
    (tmp_path / "refused.yaml").write_text(REFUSED)
    monkeypatch.chdir(tmp_path)


MINE = f"mine={sys.executable} mine.py"


def clients(*arguments: object) -> tuple[int, str]:
    result = run("clients", *arguments)
    return result.returncode, result.stdout or result.stderr


def test_a_program_of_the_documents_is_run_shown_reported_and_run_again(tmp_path: Path) -> None:
    code, said = clients("run", "--command", MINE, *SCENARIO)
    assert code == 1
    assert re.search(r"refused +│ unexpected: fails", said)
    assert re.search(r"none +│ as expected", said)
    code, said = clients("show", "mine/produce/refused")
    assert code == 0
    assert "KafkaError: KafkaError{code=MSG_SIZE_TOO_LARGE" in said
    assert re.search(r"rule 'refused' at \d+\.\d\d s.*: Produce v\d+", said)
    assert "barnabas decode clients/cells/mine/produce/refused/0/run.pcapng" in said
    assert (tmp_path / "clients" / "cells" / "mine" / "produce" / "refused" / "0").is_dir()
    code, said = clients("report")
    assert code == 0
    assert "| refused | unexpected: fails |" in said.splitlines()
    _, said = clients("report", "--format", "json")
    rows = list(map(json.loads, said.splitlines()))
    words = {(row["workload"], row["scenario"]): row["verdict"]["word"] for row in rows}
    assert words["produce", "refused"] == "fails"
    assert words["read-process-write", "refused"] == "not run"
    before = tmp_path / "clients" / "cells" / "mine" / "produce" / "refused" / "0" / "run.pcapng"
    first = before.read_bytes()
    assert clients("rerun", "mine/produce/refused") == (
        2,
        "barnabas: mine is a program of yours: give --command mine=LINE\n",
    )
    code, said = clients("run", "--broker", "127.0.0.1:1")
    assert code != 0
    assert before.read_bytes() == first
    (tmp_path / "refused.yaml").unlink()  # the table has it
    code, said = clients("rerun", "mine/produce/refused", "--command", MINE)
    assert (code, before.read_bytes() != first) == (1, True)
    assert "fails" in said
    code, said = clients("rerun", "mine/produce/none", "--command", MINE)
    assert (code, "refused" in said) == (0, False)


def test_clients_and_workloads_are_listed() -> None:
    code, said = clients("list", "--json")
    rows = list(map(json.loads, said.splitlines()))
    assert code == 0
    assert all("@" in row["client"] for row in rows if "client" in row)
    assert {"produce"} < {row["workload"] for row in rows if "workload" in row}
    assert re.search(r"aiokafka@[\d.]+ +│ a release on PyPI", clients("list")[1])


def test_an_interrupted_run_leaves_no_process_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "sleeps.py").write_text(
        "import sys, time\nprint('up', file=sys.stderr, flush=True)\ntime.sleep(600)\n"
    )
    line = f"sleeps={sys.executable} {tmp_path / 'sleeps.py'}"
    command = [*BARNABAS, "clients", "run", "--command", line, "--workload", "produce"]
    output = tmp_path / "clients/running/sleeps/produce/none/0/output.txt"
    with subprocess.Popen(
        [*command, *map(str, SCENARIO)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        while not (output.exists() and output.read_text()):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(60) == 130
    assert "interrupted: finished cells are in" in said
    assert "Traceback" not in said
    assert running(tmp_path / "sleeps.py") == []


def test_a_program_is_compared_with_a_library() -> None:
    code, said = clients(
        *("run", "--command", MINE, "--against", "confluent-kafka"),
        *("--workload", "produce", *SCENARIO),
    )
    assert code == 0  # both fail alike
    assert "mine and confluent-kafka@2.16.1 differ in no cell" in said
    code, said = clients("run", "--against", "confluent-kafka@2.16.1", *SCENARIO)
    assert code == 2
    assert "--against compares one client with another: give one --client or --command" in said
