"""`barnabas diff` on captures of runs that the test makes."""

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
    api="Heartbeat", seed=7, direction="", when="{probability: 0.4}", do="{delay: 1ms}"
)
ERRORS = TEXT.replace("do: {delay: 1ms}", "do: {respond: {error: REBALANCE_IN_PROGRESS}}").replace(
    "api: Heartbeat}", "api: Heartbeat, direction: request}", 1
)


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("diff")
    run(live(TEXT, folder / "a.pcapng"))
    run(live(ERRORS, folder / "b.pcapng"))
    return folder / "a.pcapng", folder / "b.pcapng"


def diff(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["diff", *map(str, arguments)])
    if isinstance(result.exception, Trouble):
        return result.exception.code, result.stdout, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def test_a_capture_is_the_same_as_itself(captures: tuple[Path, Path]) -> None:
    code, out, err = diff(captures[0], captures[0])
    assert (code, out) == (0, "")
    assert " 0 different, 0 only in " in err


def test_what_differs_is_a_finding(captures: tuple[Path, Path]) -> None:
    code, out, err = diff(*captures)
    assert code == 1
    assert "    response error_code: 0 ≠ 27" in out
    assert "Heartbeat" in out
    assert " 0 different, " not in err


def test_what_is_ignored_does_not_differ(captures: tuple[Path, Path]) -> None:
    assert " 0 different, " not in diff(*captures)[2]
    assert " 0 different, " in diff(*captures, "--ignore", "error_code")[2]


def test_rows_for_programs(captures: tuple[Path, Path]) -> None:
    found = [json.loads(line) for line in diff(*captures, "--json")[1].splitlines()]
    rows = [row for row in found if row["left"] and row["right"]]  # runs may differ in length
    assert rows
    assert {"path": "error_code", "left": 0, "right": 27} in rows[0]["response"]
    assert rows[0]["left"]["api"] == rows[0]["right"]["api"] == "Heartbeat"


def test_wrong_input(captures: tuple[Path, Path], tmp_path: Path) -> None:
    assert diff(captures[0], tmp_path / "none")[0] == 2
    assert diff(*captures, "--filter", "apy == 'x'")[0] == 2


def test_a_slice_that_names_topics_by_id_knows_their_names(tmp_path: Path) -> None:
    sample, sliced = Path("captures/samples/kip-848.pcapng").resolve(), tmp_path / "slice.pcapng"
    fetches = ("--filter", "api == 'Fetch'")
    result = CliRunner().invoke(app, ["convert", str(sample), str(sliced), *fetches])
    assert result.exit_code == 0
    code, out, err = diff(sample, sliced, *fetches, "--everything")
    assert (code, out) == (0, "")
    assert not err.startswith("0 exchanges the same")
