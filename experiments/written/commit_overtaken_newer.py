"""The same as `commit_overtaken` on 3.9.1 and 4.3.1, with the classic and the consumer protocol."""

from __future__ import annotations

from typing import Final

from experiments.experiment import Bench, Experiment, Measured
from experiments.rebalances.campaign import Case, campaign
from experiments.rebalances.plots import plots
from experiments.rebalances.report import write

CASES: Final = (
    Case("3.9.1", "classic", 20),
    Case("3.9.1", "consumer", 20),
    Case("4.3.1", "classic", 20),
    Case("4.3.1", "consumer", 20),
)
SHORT: Final = (Case("4.3.1", "consumer", 2, ("same connection",)),)


def run(bench: Bench) -> Measured:
    """All arms that fit, so many groups at once."""
    return campaign(bench, SHORT if bench.short else CASES)


EXPERIMENT: Final = Experiment(
    "The same with 3.9.1 and 4.3.1, where in the consumer protocol the heartbeat that gives partitions "
    "up takes JoinGroup's place: does an overtaken commit count?",
    tuple(dict.fromkeys(case.version for case in CASES)),
    run,
    write,
    plots,
)
