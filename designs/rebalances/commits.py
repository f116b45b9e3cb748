"""The experiments about late commits, which differ by their cases."""

from __future__ import annotations

from barnabas.designs.rebalances.campaign import Case, campaign
from barnabas.designs.rebalances.plots import plots
from barnabas.designs.rebalances.report import write
from barnabas.experiments.experiment import Experiment


def commits(question: str, cases: tuple[Case, ...], short: tuple[Case, ...]) -> Experiment:
    """Return an experiment with these cases. short: the cases of a smoke test."""
    versions = tuple(case.version for case in cases)
    return Experiment(
        question,
        versions,
        lambda bench: campaign(bench, short if bench.short else cases),
        write,
        plots,
    )
