"""Exchanges of central coordination, with their bodies as the design has them."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.central_coordination.schemas import CENTRAL_COORDINATION
from barnabas.designs.exchange import DialectExchange
from barnabas.specs.dialects.keys import own_key

_KEYS: Final = frozenset(own_key(CENTRAL_COORDINATION, api) for api in CENTRAL_COORDINATION.apis)


def central_step(exchange: Exchange) -> DialectExchange | None:
    """Return an exchange of central coordination; None for another, or if its request can't be read."""
    if exchange.key not in _KEYS or exchange.request is None:
        return None
    return DialectExchange.of(exchange)
