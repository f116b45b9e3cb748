"""`barnabas fuzz script` for a finding that takes several cases, with a client of the tests' own."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.cli.fuzz import targets
from barnabas.cli.fuzz.script import fuzz_script
from barnabas.fuzz.cases.case import Recipe
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble
from tests.barnabas.cli.fuzz.own_finding import NAME, SEED, behind, kept, known

RECIPE = Recipe(SEED, ())


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch)


@pytest.mark.parametrize("before", [0, 2])
def test_each_case_that_a_finding_takes_has_its_session(
    before: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = kept(tmp_path, RECIPE, behind(*[RECIPE] * before))
    assert fuzz_script(NAME, database) == FINE
    said = capsys.readouterr().out
    assert said.count('"asked": (3, 0)') == said.count("The client: ") == before + 1
    assert ("a broker of its own" in said) == bool(before)


def test_cases_that_are_not_kept_are_missed(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="needs earlier cases") as problem:
        fuzz_script(NAME, kept(tmp_path, RECIPE, {"after": [1]}))
    assert problem.value.code == COULD_NOT_RUN


def test_the_script_of_a_client_says_how_that_is_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (kind,) = targets.KINDS
    monkeypatch.setattr(targets, "KINDS", (kind._replace(name="client"),))
    named = "client:kafka-python@2.3.1"
    assert fuzz_script(NAME, kept(tmp_path, RECIPE, {}), target=named) == FINE
    assert "Install the client by: pip install kafka-python==2.3.1" in capsys.readouterr().out
