"""A client's workload under a scenario: its trials, the judgement, and what it is called."""

from __future__ import annotations

from typing import Final

from barnabas.experiments.clients.trial import Trial
from barnabas.experiments.clients.verdict import Verdict
from barnabas.proxy.matching.settings import Settings

TRIALS: Final = 3
"""Of each cell, with other seeds."""

CONTROL: Final = "none"
"""In the place of a scenario: without faults."""


class Cell(Settings):
    """What is kept of one that is over. broker: in words. command: how a program of the user's is started;
    empty: it is none."""

    client: str
    workload: str
    scenario: str
    broker: str
    verdict: Verdict
    trials: tuple[Trial, ...] = ()
    command: str = ""

    @property
    def name(self) -> str:
        """By which a user names it, and its folder is called."""
        return cell_name(self.client, self.workload, self.scenario)


def cell_name(client: str, workload: str, scenario: str) -> str:
    """The name of a cell.

    >>> cell_name("aiokafka@0.12.0", "produce", "lossy-network")
    'aiokafka@0.12.0/produce/lossy-network'
    """
    return f"{client}/{workload}/{scenario}"
