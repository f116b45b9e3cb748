"""`barnabas grep` on the capture of a run that the test makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from barnabas.cli.app import app
from barnabas.loop import run
from barnabas.trouble import Trouble
from tests.proxy.test_rehearsal import SCENARIO, live

TEXT = SCENARIO.format(
    api="Heartbeat",
    seed=7,
    direction=", direction: request",
    when="{probability: 0.4}",
    do="{respond: {error: NOT_COORDINATOR}}",
)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grep") / "live.pcapng"
    run(live(TEXT, path))
    return path


def grep(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["grep", *map(str, arguments)])
    if isinstance(result.exception, Trouble):
        return result.exception.code, result.stdout, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def test_it_prints_the_exchange_and_the_places(capture: Path) -> None:
    code, out, err = grep("coordinator", "-i", capture)
    assert (code, err) == (0, "")
    assert "NOT_COORDINATOR" in out
    assert "    error: NOT_COORDINATOR\n" in out
    assert grep("coordinator", capture)[0] == 1


def test_several_files_are_named(capture: Path) -> None:
    _, out, _ = grep("NOT_COORDINATOR", capture, capture)
    assert f"{capture}: " in out


def test_rows_for_programs(capture: Path) -> None:
    rows = [json.loads(line) for line in grep("NOT_COORD", capture, "--json")[1].splitlines()]
    assert rows
    assert all(row["found"]["error"] == row["error"] == "NOT_COORDINATOR" for row in rows)


def test_wrong_input(capture: Path, tmp_path: Path) -> None:
    code, _, said = grep("(", capture)
    assert code == 2
    assert "not a regular expression" in said
    assert grep("-F", "((", capture)[0] == 1
    assert grep("x", tmp_path)[0] == 2
