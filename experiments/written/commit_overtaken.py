"""A commitAsync overtaken by JoinGroup: does it count, and what is read twice? (0.11.0.1)"""

from __future__ import annotations

from typing import Final

from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.experiments.rebalances.campaign import Case, campaign
from barnabas.experiments.rebalances.plots import plots
from barnabas.experiments.rebalances.report import write

CASES: Final = (Case("0.11.0.1", "classic", 50),)
SHORT: Final = (Case("0.11.0.1", "classic", 2, ("same connection", "the other member's join")),)


def run(bench: Bench) -> Measured:
    """All arms, so many groups at once."""
    return campaign(bench, SHORT if bench.short else CASES)


EXPERIMENT: Final = Experiment(
    "If JoinGroup overtakes an OffsetCommit of commitAsync: does the commit count, with which error, "
    "where does the new owner start, and what is processed twice?",
    tuple(case.version for case in CASES),
    run,
    write,
    plots,
)
