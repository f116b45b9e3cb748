"""The results in designs/*/docs/results/ are what their figures say, in the words of the present code."""

from __future__ import annotations

import json
from typing import Any

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


LACKING: tuple[tuple[str, dict[str, Any], str, bool], ...] = (
    ("pipelined-queues", {"quiet_ms": []}, "| none got through |", True),
    (
        "pipelined-throughput",
        {"problems": {"expired": 1}},
        "; 100 messages were not acknowledged",
        True,
    ),
    ("pipelined-order", {"in_order": True}, "it was never broken", True),
    ("auto-commit-crash", {"since_ms": None}, "Left out: 120 runs without a commit", True),
    ("commit-overtaken-clients", {"gave_up": 0}, "no member gave partitions up.", True),
    ("commit-overtaken", {"stall_ms": None}, "Not in the tables: runs that did not come to", True),
    ("commit-overtaken", {"arm": "same connection"}, "Where nothing overtook it", False),
    ("commit-overtaken", {"arm": "same connection"}, "The client of 0.10.0.1 was overtaken", False),
    ("commit-overtaken", {"session": ...}, "A session is", False),
    (
        "commit-overtaken-consumer",
        {"ghosts": 0},
        "where nothing overtook the commit, what followed",
        False,
    ),
)
"""What no committed result has: a field that all runs have changed (...: lost), and what is said, or not."""


@pytest.mark.parametrize(("name", "change", "sentence", "said"), LACKING)
def test_what_no_result_has_is_said_as_well(
    name: str, change: dict[str, Any], sentence: str, said: bool
) -> None:
    measured = json.loads((RESULTS[name] / f"{name}.json").read_bytes())["measured"]
    measured["runs"] = [
        {key: value for key, value in (run | change).items() if value is not ...}
        for run in measured["runs"]
    ]
    text = experiment(name).write(measured)
    assert (sentence in text) == said
    assert (sentence in written(RESULTS[name] / f"{name}.json")) != said
