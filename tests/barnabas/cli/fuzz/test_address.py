"""A campaign against a broker that somebody else runs, and that dies of a case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.barnabas.cli.command import run
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


def test_what_kills_it_is_a_finding_and_the_same_command_goes_on_behind_it(
    broker: Mortal, tmp_path: Path
) -> None:
    (tmp_path / "c.yaml").write_text(CAMPAIGN.format(*broker.address))
    first = run("fuzz", "run", "c.yaml", cwd=tmp_path)
    assert first.returncode == 3
    assert "  died: the process ended: its address refuses connections" in first.stdout
    *lines, last = first.stderr.splitlines()
    assert any(" in " in line and line.endswith("; 1 finding") for line in lines)
    assert any("fuzz replay" in line for line in lines)
    assert (
        "ConnectionRefusedError; start it again; run the same command to continue at case" in last
    )
    done = int(last.rpartition(" ")[2])
    assert run("fuzz", "run", "c.yaml", cwd=tmp_path).returncode == 3  # nobody started it
    broker.start()
    broker.kills = lambda asked: False
    again = run("fuzz", "run", "c.yaml", cwd=tmp_path)
    assert f"continuing at case {done}" in again.stderr
    assert f"{300 - done} cases in " in again.stderr
    assert again.returncode == 1


def test_of_a_campaign_that_could_not_begin_no_database_is_left(
    broker: Mortal, tmp_path: Path
) -> None:
    (tmp_path / "c.yaml").write_text(CAMPAIGN.format(*broker.address))
    broker.die()
    assert run("fuzz", "run", "c.yaml", cwd=tmp_path).returncode == 3
    assert [one.name for one in tmp_path.iterdir()] == ["c.yaml"]
