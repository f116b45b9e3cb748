"""Cells that are made up."""

from __future__ import annotations

from typing import Any

from barnabas.experiments.clients.cell import Cell
from barnabas.experiments.clients.verdict import Verdict


def cell(client: str = "one@1", scenario: str = "slow-broker", **about: Any) -> Cell:
    """A cell of the workload `produce`."""
    found = {"word": "fine", "times": 3, "of": 3, **about}
    return Cell(
        client=client,
        workload="produce",
        scenario=scenario,
        broker="apache:4.3.1",
        verdict=Verdict(**found),
    )
