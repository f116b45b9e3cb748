"""`barnabas grep` on the capture of a run that the test makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.loop import run as run_loop
from tests.barnabas.cli.command import run
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
    run_loop(live(TEXT, path))
    return path


def test_it_prints_the_exchange_and_the_places(capture: Path) -> None:
    code, out, err = run("grep", "coordinator", "-i", capture)
    assert (code, err) == (0, "")
    assert "NOT_COORDINATOR" in out
    assert "    error: NOT_COORDINATOR\n" in out
    assert run("grep", "coordinator", capture).returncode == 1
    assert run("grep", "-F", "((", capture).returncode == 1
    assert f"{capture}: " in run("grep", "NOT_COORDINATOR", capture, capture).stdout
    rows = run("grep", "NOT_COORD", capture, "--json").rows
    assert rows
    assert all(row["found"]["error"] == row["error"] == "NOT_COORDINATOR" for row in rows)
