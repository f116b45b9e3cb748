"""`barnabas grep` on a sample in which rules answered."""

from __future__ import annotations

from tests.barnabas.cli.command import run
from tests.places import SAMPLES

CAPTURE = SAMPLES / "faults.pcapng"


def test_it_prints_the_exchange_and_the_places() -> None:
    code, out, err = run("grep", "not_enough", "-i", CAPTURE)
    assert (code, err) == (0, "")
    assert "    error: NOT_ENOUGH_REPLICAS\n" in out
    assert run("grep", "not_enough", CAPTURE).returncode == 1
    assert run("grep", "-F", "((", CAPTURE).returncode == 1
    assert f"{CAPTURE}: " in run("grep", "NOT_ENOUGH", CAPTURE, CAPTURE).stdout
    (row,) = run("grep", "NOT_ENOUGH", CAPTURE, "--json").rows
    assert row["found"]["error"] == row["error"] == "NOT_ENOUGH_REPLICAS"
