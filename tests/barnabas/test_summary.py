"""`barnabas summary` on the capture of a run that the test makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from barnabas.cli import app
from barnabas.loop import run
from barnabas.trouble import Trouble
from tests.proxy.test_rehearsal import SCENARIO, live

TEXT = SCENARIO.format(seed=7, direction="", when="{probability: 0.4}", do="{delay: 1ms}")


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("summary") / "live.pcapng"
    run(live(TEXT, path))
    return path


def summary(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["summary", *map(str, arguments)])
    if isinstance(result.exception, Trouble):
        return result.exception.code, result.stdout, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def decoded(capture: Path) -> list[dict[str, object]]:
    result = CliRunner().invoke(app, ["decode", str(capture), "--json"])
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_its_counts_are_those_of_decode(capture: Path) -> None:
    code, out, err = summary(capture, "--json")
    found = json.loads(out)
    rows = decoded(capture)
    assert (code, err) == (0, "")
    assert found["exchanges"] == len(rows) > 0
    for by, column in (("api", "api"), ("client", "client_id")):
        values = [row[column] or "-" for row in rows]
        counts = {label: row["count"] for label, row in found[by].items()}
        assert counts == {value: values.count(value) for value in values}


def test_a_table_for_each_that_is_asked_for(capture: Path) -> None:
    code, out, _ = summary(capture, "--by", "client", "--by", "api", "--most", "1")
    assert code == 0
    assert "\nclient " in out
    assert "\napi " in out
    assert "\nbroker " not in out
    assert "more: --most" in out


def test_only_what_passes_the_filter_counts(capture: Path) -> None:
    _, out, _ = summary(capture, "--filter", "api == 'Heartbeat'", "--json")
    assert list(json.loads(out)["api"]) == ["Heartbeat"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--by", "colour"), 2, "--by colour: one of api, client, connection, broker, topic"),
        (("--filter", "apy == 'x'"), 2, "did you mean 'api'?"),
    ],
)
def test_wrong_options(capture: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    found = summary(capture, *arguments)
    assert found[0] == code
    assert said in found[2]


def test_what_is_no_capture(tmp_path: Path) -> None:
    assert summary(tmp_path / "none.pcapng")[0] == 2
    (tmp_path / "text").write_text("hello")
    assert summary(tmp_path / "text")[0] == 2
