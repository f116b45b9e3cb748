"""`barnabas experiment`: its commands, with an experiment that needs nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from barnabas.cli.app import app
from barnabas.cli.experiments import run
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.peers.apache import UnavailableError
from barnabas.trouble import COULD_NOT_RUN, MISUSE, Trouble
from barnabas.version import version


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
    result = CliRunner().invoke(app, ["experiment", "run", "answer", "-o", str(out)])
    assert (result.exit_code, result.stdout.strip()) == (0, str(out / "answer.md"))
    text = (out / "answer.md").read_text()
    assert text.startswith(f"# answer\n\n**What is it?**\n\nMeasured by barnabas {version()}")
    assert text.endswith("\n\nIt is 42.\n")
    assert "short run" not in text
    again = CliRunner().invoke(app, ["experiment", "write", str(out / "answer.json")])
    assert again.stdout == text


def test_a_short_run_says_so(tmp_path: Path) -> None:
    CliRunner().invoke(app, ["experiment", "run", "answer", "--short", "-o", str(tmp_path)])
    text = (tmp_path / "answer.md").read_text()
    assert "A short run: a smoke test, no basis for conclusions." in text
    assert text.endswith("It is 1.\n")


def test_figures_of_a_busy_machine_are_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: ((os.cpu_count() or 1) + 0.1, 0, 0))
    result = CliRunner().invoke(app, ["experiment", "run", "answer", "-o", str(tmp_path)])
    assert result.exit_code == 1
    said = "the machine had other work when this began: figures of time are no result"
    assert f"answer: {said}" in result.stderr
    assert f"**{said.capitalize()}.**" in (tmp_path / "answer.md").read_text()
    document = json.loads((tmp_path / "answer.json").read_text())
    assert document["versions"]["kafka"] == ["4.3.1"]


def test_the_list_says_what_each_asks() -> None:
    assert "What is it?" in CliRunner().invoke(app, ["experiment", "list"]).stdout
    line = CliRunner().invoke(app, ["experiment", "list", "--json"]).stdout
    assert json.loads(line) == {"name": "answer", "question": "What is it?", "versions": ["4.3.1"]}


def test_what_is_not_there_is_misuse_and_what_can_t_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="no experiment 'absent'; see `barnabas") as trouble:
        run.run("absent", tmp_path, short=True)
    assert trouble.value.code == MISUSE
    with pytest.raises(Trouble, match="unavailable: there is no Java") as trouble:
        run.run("unavailable", tmp_path, short=True)
    assert trouble.value.code == COULD_NOT_RUN
    (tmp_path / "file").write_text("")
    with pytest.raises(Trouble, match="--out"):
        run.run("answer", tmp_path / "file", short=True)


def test_one_of_another_format_is_said(tmp_path: Path) -> None:
    file = tmp_path / "some.json"
    file.write_text('{"experiment": "answer", "format": 9}')
    with pytest.raises(Trouble, match="format 9"):
        run.written(file)
