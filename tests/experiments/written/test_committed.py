"""The results in experiments/results/ are what their figures say, in the words of the present code."""

from __future__ import annotations

from pathlib import Path

import pytest

import experiments
from barnabas.run_experiment import written
from experiments.written.contents import EXPERIMENTS

RESULTS = Path(experiments.__file__).parent / "results"


@pytest.mark.parametrize("name", [name for name, _ in EXPERIMENTS])
def test_the_text_is_made_of_the_figures(name: str) -> None:
    assert written(RESULTS / f"{name}.json") == (RESULTS / f"{name}.md").read_text()
