"""A campaign against a broker that somebody else runs, and that dies of a case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from barnabas.cli.app import app
from barnabas.trouble import Trouble
from tests.fuzz.mortal import Mortal

CAMPAIGN = """\
version: 1
target: "address:{}:{}"
seed: 3
apis: [Metadata]
oracles: [died]
budget: {{cases: 300}}
"""


@pytest.fixture
def broker() -> Iterator[Mortal]:
    mortal = Mortal(lambda asked: asked[:2] == b"\0\3" and len(asked) > 60)
    yield mortal
    mortal.die()


def run() -> Result:
    return CliRunner().invoke(app, ["fuzz", "run", "c.yaml"])


def test_what_kills_it_is_a_finding_and_the_same_command_goes_on_behind_it(
    broker: Mortal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.yaml").write_text(CAMPAIGN.format(*broker.address))
    first = run()
    assert isinstance(first.exception, Trouble)
    assert first.exception.code == 3
    assert "  died: the process ended: its address refuses connections" in first.stdout
    lines = first.stderr.splitlines()
    assert any(" in " in line and line.endswith("; 1 finding") for line in lines)
    assert any("fuzz replay" in line for line in lines)
    assert "ConnectionRefusedError; start it again; the same command goes on at case" in str(
        first.exception
    )
    done = int(str(first.exception).rpartition(" ")[2])
    assert isinstance(run().exception, Trouble)  # nobody started it
    broker.start()
    broker.kills = lambda asked: False
    again = run()
    assert f"continuing at case {done}" in again.stderr
    assert f"{300 - done} cases in " in again.stderr
    assert again.exit_code == 1


def test_of_a_campaign_that_could_not_begin_no_database_is_left(
    broker: Mortal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.yaml").write_text(CAMPAIGN.format(*broker.address))
    broker.die()
    ended = run().exception
    assert isinstance(ended, Trouble)
    assert ended.code == 3
    assert [one.name for one in tmp_path.iterdir()] == ["c.yaml"]
