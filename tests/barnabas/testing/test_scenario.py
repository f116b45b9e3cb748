"""Where a scenario is from: a file, a name, text, a mapping."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.experiments.library import FOLDER, names
from barnabas.proxy.scenario.file import loads
from barnabas.testing.scenario import Source, WrongScenario, written

TEXT = "version: 1\nrules: [{name: a, do: close}]\n"


def test_a_file_beside_the_test_goes_before_a_name_of_ours(tmp_path: Path) -> None:
    for name in names():
        assert written(name, tmp_path) == FOLDER / f"{name}.yaml"
    mine = tmp_path / names()[0]
    mine.write_text(TEXT)
    assert written(names()[0], tmp_path) == mine
    assert written(mine, Path("/")) == mine
    assert written(str(mine), Path("/")) == mine


@pytest.mark.parametrize("source", [TEXT, " {version: 1, rules: [{name: a, do: close}]}"])
def test_text_is_text(source: str) -> None:
    assert written(source, Path("/")) == source


def test_a_mapping_is_written_as_a_scenario() -> None:
    found = written({"version": 1, "rules": [{"name": "ümlaut", "do": "close"}]}, Path("/"))
    assert isinstance(found, str)
    assert [rule.name for rule in loads(found).rules] == ["ümlaut"]


def test_what_is_no_scenario_at_all() -> None:
    with pytest.raises(WrongScenario, match="a scenario is a file, a name, YAML or a dict, not 3"):
        written(3, Path("/"))  # type: ignore[arg-type]


@pytest.mark.parametrize("source", ["missing.yaml", Path("missing.yaml"), Path("{a"), ""])
def test_what_is_not_there(source: Source, tmp_path: Path) -> None:
    with pytest.raises(WrongScenario, match=r"no scenario and no file '.*' in /"):
        written(source, tmp_path)
