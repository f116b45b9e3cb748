"""Exchanges of a design as steps of a sequence diagram: clients have names, and either side may ask."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.designs.exchange import DialectExchange
from barnabas.experiments.diagram import Step, timed_in_order


def design_steps(exchanges: Iterable[DialectExchange]) -> list[Step]:
    """Return exchanges as steps, in the order of their requests; the first begins at 0 ms."""
    return [
        Step(
            *timed,
            one.api,
            f"{one.error or 'answer'} to {one.api}",
            one.client,
            one.asked_by == "response",
        )
        for one, timed in timed_in_order(exchanges)
    ]
