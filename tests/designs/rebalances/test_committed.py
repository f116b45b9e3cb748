"""The results in designs/*/docs/results/ are what their figures say, in the words of the present code."""

from __future__ import annotations

import json

import pytest

from barnabas.cli.experiments.run import plots, written
from barnabas.experiments.registry import experiment
from tests.places import ROOT

RESULTS = {path.stem: path.parent for path in ROOT.glob("designs/*/docs/results/*.json")}
NAMES = sorted(RESULTS)
"""Those of which results are kept; an experiment can be run without."""


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_made_of_the_figures(name: str) -> None:
    folder = RESULTS[name]
    assert written(folder / f"{name}.json") == (folder / f"{name}.md").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_plots_are_made_of_the_figures(name: str) -> None:
    folder = RESULTS[name]
    made = plots(experiment(name), json.loads((folder / f"{name}.json").read_bytes()))
    assert {file: (folder / file).read_text() for file in made} == made
