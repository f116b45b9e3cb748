"""Check `correlation_ids`: no request has the correlation id of a request in flight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.captures.checks.facts import ACKS
from barnabas.captures.checks.finding import (
    Check,
    Evidence,
    Finding,
    NoSettings,
    See,
    evidence,
)
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import PRODUCE

NEVER = 1 << 63


def correlation_ids(_: NoSettings) -> See:
    """Find correlation ids of a connection that are reused while their request is in flight."""
    used: Memory[tuple[int, int], tuple[int, Evidence]] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        if exchange.key < 0:
            return
        key = (exchange.connection, exchange.correlation_id)
        until, first = used.get(key, (0, None))
        if first is not None and exchange.ts < until:
            yield Finding(
                "error",
                f"correlation id {exchange.correlation_id} was reused while {first.api} was in "
                "flight with it",
                "Increment the correlation id with each request of a connection: only their "
                "order tells such responses apart.",
                (first, evidence(exchange)),
            )
        end = exchange.answered
        if end is None:
            end = exchange.ts if _unanswerable(exchange) else NEVER
        used[key] = (end, evidence(exchange))

    return see


def _unanswerable(exchange: Exchange) -> bool:
    return exchange.key == PRODUCE and ACKS.of(exchange) == 0


CHECK: Final = Check(
    "correlation_ids", NoSettings(), correlation_ids,
    "correlation ids reused while their request is in flight",
    "all APIs with a request header; ids may be reused once they are answered, and wrap at 2^31",
)  # fmt: skip
