from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.experiments.library import FOLDER, find, names
from barnabas.proxy.scenario.file import load
from barnabas.proxy.scenario.lint.notes import warnings

TESTS = Path(__file__).parent / "scenarios"


@pytest.mark.parametrize("name", names())
def test_each_loads_says_what_it_is_for_and_can_do_what_it_says(name: str) -> None:
    scenario = load(FOLDER / f"{name}.yaml")
    assert scenario.about is not None
    assert scenario.rules
    assert warnings(scenario) == []


def test_a_file_goes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find(Path("lossy-network")) == FOLDER / "lossy-network.yaml"
    Path("lossy-network").write_text("version: 1\nrules: []\n")
    assert find(Path("lossy-network")) == Path("lossy-network")


def test_each_is_run_with_real_clients() -> None:
    run = "".join(path.read_text() for path in TESTS.glob("test_*.py"))
    lacking = [name for name in names() if f'"{name}"' not in run]
    assert not lacking, "a row in ROWS of tests/experiments/scenarios/test_table.py for each"
