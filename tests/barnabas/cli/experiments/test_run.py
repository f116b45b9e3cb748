"""`barnabas experiment`: its commands, with an experiment that needs nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from barnabas.cli.experiments import run
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.peers.apache import UnavailableError
from barnabas.trouble import COULD_NOT_RUN, MISUSE
from barnabas.version import version
from tests.barnabas.cli.command import run as command


def asked(bench: Bench) -> Measured:
    bench.step(0, 1, "asking")
    assert bench.folder.is_dir()
    return {"answer": 1 if bench.short else 42}


def said(measured: Measured) -> str:
    return f"It is {measured['answer']}.\n"


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    def experiment(name: str) -> Experiment:
        if name == "absent":
            raise LookupError("no experiment 'absent'")
        run = unavailable if name == "unavailable" else asked
        return Experiment("What is it?", ("4.3.1",), run, said)

    monkeypatch.setattr(run, "experiment", experiment)
    monkeypatch.setattr(run, "names", lambda: ["answer"])
    monkeypatch.setattr(os, "getloadavg", lambda: (0.1, 0.1, 0.1))


def unavailable(bench: Bench) -> Measured:
    raise UnavailableError("there is no Java")


def test_a_result_is_written_and_can_be_written_again(tmp_path: Path) -> None:
    out = tmp_path / "made" / "here"
    result = command("experiment", "run", "answer", "-o", str(out))
    assert (result.returncode, result.stdout.strip()) == (0, str(out / "answer.md"))
    text = (out / "answer.md").read_text()
    assert text.startswith(f"# answer\n\n**What is it?**\n\nMeasured by barnabas {version()}")
    assert text.endswith("\n\nIt is 42.\n")
    assert "short run" not in text
    again = command("experiment", "write", str(out / "answer.json"))
    assert again.stdout == text


def test_a_short_run_says_so(tmp_path: Path) -> None:
    command("experiment", "run", "answer", "--short", "-o", str(tmp_path))
    text = (tmp_path / "answer.md").read_text()
    assert "A short run: a smoke test, no basis for conclusions." in text
    assert text.endswith("It is 1.\n")


def test_figures_of_a_busy_machine_are_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: ((os.cpu_count() or 1) + 0.1, 0, 0))
    result = command("experiment", "run", "answer", "-o", str(tmp_path))
    assert result.returncode == 1
    said = "the machine was busy at the start: timings are unreliable"
    assert f"answer: {said}" in result.stderr
    assert f"**{said.capitalize()}.**" in (tmp_path / "answer.md").read_text()
    document = json.loads((tmp_path / "answer.json").read_text())
    assert document["versions"]["kafka"] == ["4.3.1"]


def test_the_list_says_what_each_asks() -> None:
    assert "What is it?" in command("experiment", "list").stdout
    assert command("experiment", "list", "--json").document == {
        "name": "answer",
        "question": "What is it?",
        "versions": ["4.3.1"],
    }


def test_what_can_not_be_run_or_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "9.json").write_text('{"experiment": "answer", "format": 9}')
    (tmp_path / "1.json").write_text('{"experiment": "answer", "format": 1}')
    for words, code, said in (
        ("run unavailable -o .", COULD_NOT_RUN, "unavailable: there is no Java"),
        ("run answer -o file", MISUSE, "--out"),
        ("write 9.json", MISUSE, "format 9"),
        ("write 1.json", MISUSE, "is not the result of an experiment"),
    ):
        found = command("experiment", *words.split(), cwd=tmp_path)
        assert (found.returncode, said in found.stderr.splitlines()[-1]) == (code, True), found
