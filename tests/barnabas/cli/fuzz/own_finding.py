"""A finding of a client of the tests' own, that may take several cases: kept as a campaign keeps it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from barnabas.cli.fuzz import targets
from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.json_form import recipe_json
from barnabas.fuzz.cases.observation import EARLIER, Observation
from barnabas.fuzz.database.findings import Findings, finding_name
from barnabas.fuzz.engine.case_maker import cook
from barnabas.fuzz.engine.stats import Judged, Stats
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.fuzz.targets.clients.target import ClientTarget
from barnabas.fuzz.targets.registry import TargetKind
from barnabas.peers.clients.client import Client, Program
from barnabas.specs.keys import METADATA
from tests.fuzz.targets.clients import own_client

SEED: Final = seeds([(METADATA, 0)])[0]
VERDICT: Final = Verdict("client-died", "it dies", ("exit code 7", "Metadata"))
NAME: Final = finding_name((VERDICT.oracle, VERDICT.behaviour))


def answered(word: bytes) -> Recipe:
    """That its question is answered with a word."""
    return Recipe(replace(SEED, frame=SEED.frame[:4] + word), ())


def behind(*before: Recipe) -> dict[str, object]:
    """The facts of a finding that takes these before its own."""
    return {"after": [*range(len(before))], EARLIER: [*map(recipe_json, before)]}


def kept(folder: Path, recipe: Recipe, facts: Mapping[str, object], target: str = "own") -> Path:
    """A database with a finding that has these facts."""
    stats = Stats()
    observation = Observation(cook(recipe, 3), facts=tuple(facts.items()))
    stats.add(Judged(observation, frozenset(), (VERDICT,)))
    path = folder / "own.fuzz.db"
    with Findings(path, write=True) as findings:
        findings.campaign("own", target, {"target": target}, 0.0).keep(stats, 4, 0)
    return path


def known(patch: pytest.MonkeyPatch) -> None:
    """From now on `own` is a target."""
    line = (sys.executable, own_client.__file__)

    def make(text: str, own: bool) -> ClientTarget:
        return ClientTarget(Client("own", "1", lambda: Program(line)))

    patch.setattr(targets, "KINDS", (TargetKind("own", "client", "of the tests", "own", make),))
