"""Steps of a sequence diagram from a design's exchanges: clients have names, and both sides send requests."""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.designs.exchange import DialectExchange
from barnabas.designs.results.diagram import Step, timed_in_order


def design_steps(exchanges: Iterable[DialectExchange]) -> list[Step]:
    """Return exchanges as steps, in the order of their requests; the first begins at 0 ms."""
    return [
        Step(
            *timed,
            exchange.api,
            f"{exchange.error or 'answer'} to {exchange.api}",
            exchange.client,
            exchange.asked_by == "response",
        )
        for exchange, timed in timed_in_order(exchanges)
    ]
