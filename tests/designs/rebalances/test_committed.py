"""The results in docs/results/ are what their figures say, in the words of the present code."""

from __future__ import annotations

import json

import pytest

from barnabas.cli.experiments.run import plots, written
from barnabas.experiments.registry import experiment
from tests.places import ROOT

RESULTS = ROOT / "docs" / "results"
NAMES = sorted(path.stem for path in RESULTS.glob("*.json"))
"""Those of which results are kept; an experiment can be run without."""


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_made_of_the_figures(name: str) -> None:
    assert written(RESULTS / f"{name}.json") == (RESULTS / f"{name}.md").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_plots_are_made_of_the_figures(name: str) -> None:
    made = plots(experiment(name), json.loads((RESULTS / f"{name}.json").read_bytes()))
    assert {file: (RESULTS / file).read_text() for file in made} == made
