"""Requests that clients sent again."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.testing.batches import PRODUCE, Unreadable, batches
from barnabas.testing.exchange import Exchange

OF_CONNECTION: Final = frozenset((17, 18, 36))
"""SaslHandshake, ApiVersions, SaslAuthenticate: the requests that begin each connection."""

SASL_TOKEN: Final = -1


@dataclass(frozen=True, slots=True, repr=False)
class Retry:
    """A request that its client had sent before without success."""

    exchange: Exchange
    before: Exchange
    """The preceding exchange of the same request."""
    attempt: int
    """1 for the first retry of a request, and so on; for Produce, the largest number of its batches."""

    @property
    def reason(self) -> str:
        """Return why the preceding request failed: its error, or that it got no response."""
        if not self.before.answered:
            return "no response"
        return self.before.error or "a response that can't be read"

    def __repr__(self) -> str:
        return f"<retry {self.attempt} after {self.reason}: {self.exchange}>"


def retries(exchanges: Iterable[Exchange]) -> list[Retry]:
    """Return requests that the same client had sent before and that got an error or no response.

    Two Produce requests are the same if both have a batch of one partition with equal producer id, epoch and
    base sequence; without an idempotent producer, with equal bytes. Other requests are the same if API and
    body are equal; for requests that begin each connection, the connection must be the same, too. A repeated
    request after success is no retry, and neither is a Produce with acks=0. Clients are distinguished by
    their client ids.

    Raises:
        Unreadable: The body of a request is not in the log.
    """
    latest: dict[Hashable, tuple[Exchange, bool, int]] = {}
    retried: list[Retry] = []
    for exchange in sorted(exchanges, key=lambda each: each.ts):
        retries_of_exchange: list[Retry] = []
        for part, failed in _parts(exchange):
            before, in_vain, attempt = latest.get(part, (exchange, False, 0))
            attempt = attempt + 1 if in_vain else 0
            latest[part] = exchange, failed, attempt
            if in_vain:
                retries_of_exchange.append(Retry(exchange, before, attempt))
        if retries_of_exchange:
            retried.append(max(retries_of_exchange, key=lambda retry: retry.attempt))
    return retried


def _parts(exchange: Exchange) -> Iterator[tuple[Hashable, bool]]:
    """Yield the parts of a request that may be sent again, each with whether it failed."""
    who = exchange.client_id, exchange.key
    if exchange.key == PRODUCE:
        yield from _batches(exchange)
    elif exchange.request is None:
        if exchange.key != SASL_TOKEN:
            raise Unreadable(
                f"whether this is a retry can't be told: its body is not in the log: {exchange}"
            )
    else:
        connection = exchange.connection if exchange.key in OF_CONNECTION else None
        failed = not exchange.answered or exchange.error != ""
        yield (*who, connection, json.dumps(exchange.request, sort_keys=True)), failed


def _batches(exchange: Exchange) -> Iterator[tuple[Hashable, bool]]:
    for batch in batches(exchange):
        number = batch.producer_id, batch.producer_epoch, batch.base_sequence
        same = number if batch.idempotent else batch.records
        failed = not exchange.answered or batch.error_code != 0
        acks = (exchange.request or {}).get("acks")
        yield (exchange.client_id, batch.topic, batch.partition, same), failed and acks != 0
