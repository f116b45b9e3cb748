"""`barnabas diff` on captures of runs that the test makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.loop import run as run_loop
from tests.barnabas.cli.command import run
from tests.places import SAMPLES
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
    run_loop(live(TEXT, folder / "a.pcapng"))
    run_loop(live(ERRORS, folder / "b.pcapng"))
    return folder / "a.pcapng", folder / "b.pcapng"


def test_what_differs_is_a_finding(captures: tuple[Path, Path]) -> None:
    code, out, err = run("diff", captures[0], captures[0])
    assert (code, out, " 0 different, 0 only in " in err) == (0, "", True)
    code, out, err = run("diff", *captures)
    assert (code, " 0 different, " in err) == (1, False)
    assert "    response error_code: 0 ≠ 27" in out
    assert "Heartbeat" in out
    assert " 0 different, " in run("diff", *captures, "--ignore", "error_code").stderr


def test_rows_for_programs(captures: tuple[Path, Path]) -> None:
    rows = run("diff", *captures, "--json").rows
    both = [row for row in rows if row["left"] and row["right"]]  # runs may differ in length
    assert both
    assert {"path": "error_code", "left": 0, "right": 27} in both[0]["response"]
    assert both[0]["left"]["api"] == both[0]["right"]["api"] == "Heartbeat"


def test_a_slice_that_names_topics_by_id_knows_their_names(tmp_path: Path) -> None:
    sample, sliced = SAMPLES / "kip-848.pcapng", tmp_path / "slice.pcapng"
    fetches = ("--filter", "api == 'Fetch'")
    assert run("convert", sample, sliced, *fetches).returncode == 0
    code, out, err = run("diff", sample, sliced, *fetches, "--everything")
    assert (code, out, err.startswith("0 exchanges the same")) == (0, "", False)
