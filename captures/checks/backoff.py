"""`backoff`: what failed for the moment is tried again after a pause.

On the same connection, or on one that the client opened right behind the error. Several clients may
bear one name on one host: connections that were there before are not taken for one another's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.facts import REQUEST_HASH
from barnabas.captures.checks.finding import (
    MS,
    Check,
    Evidence,
    Finding,
    See,
    client_key,
    duration,
    evidence,
)
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import FETCH, METADATA, SHARE_FETCH

FETCHES: Final = (FETCH, SHARE_FETCH)
"""See `fetch_loops`."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How much haste is too much."""

    least_ms: float = 10.0
    """A shorter pause between the error and the same request is none."""
    times: int = 3
    """So many in a row are a finding."""


@dataclass(slots=True)
class _Failed:
    connection: int
    end: int
    first: Evidence
    hasty: int = 0


_Request = tuple[int, int]
"""API and hash of the body."""


def backoff(settings: Backoff) -> See:
    """The same request, over and over, right behind a retriable error."""
    failed: Memory[tuple[int, _Request], _Failed] = Memory()
    latest: Memory[tuple[str, _Request], _Failed] = Memory()
    """The last that failed of a client, on whichever connection."""
    begun: Memory[int, int] = Memory()
    """When the first request of a connection came."""

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        if exchange.ordinal == 0:
            begun[exchange.connection] = exchange.ts
        if exchange.key in FETCHES:
            return
        of_body, end = REQUEST_HASH.of(exchange), exchange.answered
        if of_body is None or end is None:
            return
        request = exchange.key, of_body
        here = exchange.connection, request
        client = client_key(exchange), request
        before, since = failed.get(here), exchange.ts
        # Metadata is asked of each broker that a client comes to: on another connection it is no retry
        if before is None and exchange.key != METADATA:
            before, since = latest.get(client), begun.get(exchange.connection, -1)
            if before is not None and since >= before.end:
                failed.pop((before.connection, request), None)  # it goes on here
        if before is None or not 0 <= since - before.end < settings.least_ms * MS:
            failed[here] = latest[client] = _Failed(exchange.connection, end, evidence(exchange))
            return
        pause = exchange.ts - before.end
        failed[here] = latest[client] = before
        before.connection, before.end = exchange.connection, end
        before.hasty += 1
        if before.hasty == settings.times:
            yield Finding(
                "warning",
                f"{exchange.api} was retried {before.hasty} times in a row after {exchange.error}, "
                f"the "
                f"last time {duration(pause)} after the error",
                "Wait before each retry (retry.backoff.ms), and longer each time "
                "(retry.backoff.max.ms): immediate retries load a broker that is already in "
                "trouble.",
                (before.first, evidence(exchange)),
            )

    return see


CHECK: Final = Check(
    "backoff", Backoff(), backoff, "the same request retried repeatedly without backoff",
    "all APIs but fetches, errors that Java clients retry; retry.backoff.ms is 100 ms there (20 "
    "ms for AddPartitionsToTxn) and grows with each retry since KIP-580", "host",
)  # fmt: skip
