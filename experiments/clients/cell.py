"""A cell of the table: a client's workload under a scenario, with its trials and verdict."""

from __future__ import annotations

from typing import Final

from pydantic import AwareDatetime

from barnabas.experiments.clients.draws import Draw
from barnabas.experiments.clients.trial import Trial
from barnabas.experiments.clients.verdict import Verdict
from barnabas.proxy.matching.settings import Settings

TRIALS: Final = 3
"""Trials of each cell, with different seeds."""

CONTROL: Final = "none"
"""The name of the run without faults, in place of a scenario's."""


class Cell(Settings):
    """The result of a cell.

    broker: a description. command: starts a user's program; empty: none. smallest: the smallest traffic for
    which the verdict's worst observation was made, if the plain traffic of the first trial did not suffice.
    needs: the features of `smallest`. ended: the time at which it was stored; None: by an older version.
    """

    client: str
    workload: str
    scenario: str
    broker: str
    verdict: Verdict
    trials: tuple[Trial, ...] = ()
    command: str = ""
    smallest: Draw | None = None
    needs: tuple[str, ...] = ()
    ended: AwareDatetime | None = None

    @property
    def name(self) -> str:
        """Return the name of the cell and of its folder."""
        return cell_name(self.client, self.workload, self.scenario)


def cell_name(client: str, workload: str, scenario: str) -> str:
    """Return the name of a cell.

    >>> cell_name("aiokafka@0.12.0", "produce", "lossy-network")
    'aiokafka@0.12.0/produce/lossy-network'
    """
    return f"{client}/{workload}/{scenario}"
