"""What the experiments about late commits have in common: all but their cases."""

from __future__ import annotations

from barnabas.experiments.experiment import Experiment
from barnabas.experiments.rebalances.campaign import Case, campaign
from barnabas.experiments.rebalances.plots import plots
from barnabas.experiments.rebalances.report import write


def commits(question: str, cases: tuple[Case, ...], short: tuple[Case, ...]) -> Experiment:
    """An experiment with these cases, so many groups at once; short: those of a smoke test."""
    versions = tuple(case.version for case in cases)
    return Experiment(
        question,
        versions,
        lambda bench: campaign(bench, short if bench.short else cases),
        write,
        plots,
    )
