"""Check `backoff`: clients pause before they retry after a retriable error.

A retry is the same request on the same connection, or on a connection that the client opened right after the
error. Several clients of one host may share a client id, so older connections do not count as the same
client's.
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
"""Covered by `fetch_loops`."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """The thresholds for retries without backoff."""

    least_ms: float = 10.0
    """The shortest pause between an error and its retry that counts as backoff."""
    times: int = 3
    """Retries in a row without backoff that are reported."""


@dataclass(slots=True)
class _Failed:
    connection: int
    end: int
    first: Evidence
    hasty: int = 0


_Request = tuple[int, int]
"""API key, and hash of the request."""


def backoff(settings: Backoff) -> See:
    """Find requests that are repeated right after retriable errors."""
    failed: Memory[tuple[int, _Request], _Failed] = Memory()
    latest: Memory[tuple[str, _Request], _Failed] = Memory()
    """The latest failed request of a client, on any connection."""
    begun: Memory[int, int] = Memory()
    """When the first request of a connection arrived."""

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        if exchange.ordinal == 0:
            begun[exchange.connection] = exchange.ts
        if exchange.key in FETCHES:
            return
        request_hash, end = REQUEST_HASH.of(exchange, context), exchange.answered
        if request_hash is None or end is None:
            return
        request = exchange.key, request_hash
        key = exchange.connection, request
        client = client_key(exchange), request
        before, since = failed.get(key), exchange.ts
        # a client sends Metadata on each new connection: that is not a retry
        if before is None and exchange.key != METADATA:
            before, since = latest.get(client), begun.get(exchange.connection, -1)
            if before is not None and since >= before.end:
                failed.pop((before.connection, request), None)  # continued on this connection
        if before is None or not 0 <= since - before.end < settings.least_ms * MS:
            failed[key] = latest[client] = _Failed(exchange.connection, end, evidence(exchange))
            return
        pause = exchange.ts - before.end
        failed[key] = latest[client] = before
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
