"""`backoff`: what failed for the moment is tried again after a pause."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from captures.checks.finding import MS, Evidence, Finding, See, answered, duration, evidence
from captures.context import Context
from captures.context.memory import Memory
from captures.exchange import Exchange
from specs.error_codes import ERROR_CODES

FETCHES: Final = (1, 78)
"""Fetch and ShareFetch: see `fetch_loops`."""

RETRIABLE: Final = frozenset(error.name for error in ERROR_CODES if error.retriable)

HOLDS = (
    "all APIs but fetches, errors that are retriable in Java's clients; retry.backoff.ms is 100 ms "
    "there, 20 ms for AddPartitionsToTxn, and grows since KIP-580"
)


@dataclass(frozen=True, slots=True)
class Backoff:
    """How much haste is too much."""

    least_ms: float = 10.0
    """A shorter pause between the error and the same request is none."""
    times: int = 3
    """So many in a row are a finding."""


@dataclass(slots=True)
class _Failed:
    end: int
    first: Evidence
    hasty: int = 0


def backoff(settings: Backoff) -> See:
    """The same request on the same connection, over and over, right behind a retriable error."""
    failed: Memory[tuple[int, int, int], _Failed] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        if exchange.key in FETCHES or exchange.request_body is None:
            return
        error, end = exchange.error, answered(exchange)
        if error not in RETRIABLE or end is None:
            return
        key = (exchange.connection, exchange.key, hash(exchange.request_body))
        before = failed.get(key)
        if before is None or not 0 <= exchange.ts - before.end < settings.least_ms * MS:
            failed[key] = _Failed(end, evidence(exchange))
            return
        pause = exchange.ts - before.end
        before.end = end
        before.hasty += 1
        if before.hasty == settings.times:
            yield Finding(
                "warning",
                f"{exchange.api} was tried again {before.hasty} times in a row on {error}, the last "
                f"time after {duration(pause)}",
                "Wait before the same request is sent again (retry.backoff.ms), longer each time: "
                "else clients load a broker that is in trouble already.",
                (before.first, evidence(exchange)),
            )

    return see
