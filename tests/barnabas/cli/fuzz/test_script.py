"""`barnabas fuzz script` for a finding that takes several cases, with a client of the tests' own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from barnabas.cli.console.output import Output
from barnabas.cli.fuzz import targets
from barnabas.cli.fuzz.script import fuzz_script
from barnabas.fuzz.answering.seeds import seeds
from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.json_form import recipe_json
from barnabas.fuzz.cases.observation import EARLIER, Observation
from barnabas.fuzz.database.findings import Findings, finding_name
from barnabas.fuzz.engine.making import cook
from barnabas.fuzz.engine.stats import Judged, Stats
from barnabas.fuzz.oracles.client_died import CLIENT_DIED
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.fuzz.targets.registry import Kind
from barnabas.peers.clients.client import Client, Program
from barnabas.specs.keys import METADATA
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble
from tests.fuzz.targets.clients import own_client

RECIPE = Recipe(seeds([(METADATA, 0)])[0], ())
VERDICT = Verdict(CLIENT_DIED.name, "it dies", ("exit code 7", "Metadata"))

NAME = finding_name((VERDICT.oracle, VERDICT.behaviour))


def kept(folder: Path, facts: Mapping[str, object]) -> Path:
    """A database with a finding that has these facts."""
    stats = Stats()
    observation = Observation(cook(RECIPE, 3), facts=tuple(facts.items()))
    stats.add(Judged(observation, frozenset(), (VERDICT,)))
    path = folder / "own.fuzz.db"
    with Findings(path, write=True) as findings:
        findings.campaign("own", "own", {"target": "own"}, 0.0).keep(stats, 4, 0)
    return path


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    line = (sys.executable, own_client.__file__)

    def make(text: str, own: bool) -> ClientTarget:
        return ClientTarget(Client("own", "1", lambda: Program(line)))

    monkeypatch.setattr(targets, "KINDS", (Kind("own", "client", "of the tests", "own", make),))


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("before", [0, 2])
def test_each_case_that_a_finding_takes_has_its_session(
    before: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = {"after": [*range(before)], EARLIER: [recipe_json(RECIPE)] * before}
    assert fuzz_script(NAME, kept(tmp_path, facts), output=Output()) == FINE
    said = capsys.readouterr().out
    assert said.count('"asked": (3, 0)') == said.count("The client: ") == before + 1
    assert ("a broker of its own" in said) == bool(before)


@pytest.mark.usefixtures("own")
def test_cases_that_are_not_kept_are_missed(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="needs cases before its own") as problem:
        fuzz_script(NAME, kept(tmp_path, {"after": [1]}), output=Output())
    assert problem.value.code == COULD_NOT_RUN
