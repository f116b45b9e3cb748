"""Requests that were sent again."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.testing.batches import PRODUCE, Unreadable, batches
from barnabas.testing.exchange import Exchange

OF_CONNECTION: Final = frozenset((17, 18, 36))
"""SaslHandshake, ApiVersions, SaslAuthenticate: every connection begins with them."""

SASL_TOKEN: Final = -1


@dataclass(frozen=True, slots=True, repr=False)
class Retry:
    """A request that was sent before, in vain."""

    exchange: Exchange
    before: Exchange
    """The same request, the time before."""
    attempt: int
    """1 for the first retry of a request, and so on; of a Produce, for the batch that was tried most."""

    @property
    def reason(self) -> str:
        """What came of it the time before."""
        if not self.before.answered:
            return "no response"
        return self.before.error or "a response that can't be read"

    def __repr__(self) -> str:
        return f"<retry {self.attempt} after {self.reason}: {self.exchange}>"


def retries(exchanges: Iterable[Exchange]) -> list[Retry]:
    """The requests that the same client had sent before and got an error for, or no response.

    The same request: of a Produce, that it brings a batch again to a partition (the same producer
    id, epoch and base sequence; of a producer without these, the same bytes); of all others, the same
    API with the same body, and for what every connection begins with also on the same connection.
    What was answered well may be asked again: that is no retry, nor is anything with acks=0. Clients are
    told apart by their client ids. Raises Unreadable.
    """
    latest: dict[Hashable, tuple[Exchange, bool, int]] = {}
    found: list[Retry] = []
    for exchange in sorted(exchanges, key=lambda each: each.ts):
        again: list[Retry] = []
        for part, failed in _parts(exchange):
            before, in_vain, attempt = latest.get(part, (exchange, False, 0))
            attempt = attempt + 1 if in_vain else 0
            latest[part] = exchange, failed, attempt
            if in_vain:
                again.append(Retry(exchange, before, attempt))
        if again:
            found.append(max(again, key=lambda retry: retry.attempt))
    return found


def _parts(exchange: Exchange) -> Iterator[tuple[Hashable, bool]]:
    """What of a request may be sent again, and whether it failed."""
    who = exchange.client_id, exchange.key
    if exchange.key == PRODUCE:
        yield from _batches(exchange)
    elif exchange.request is None:
        if exchange.key != SASL_TOKEN:
            raise Unreadable(
                f"whether this is a retry can't be told: its body is not in the log: {exchange}"
            )
    else:
        where = exchange.connection if exchange.key in OF_CONNECTION else None
        failed = not exchange.answered or exchange.error != ""
        yield (*who, where, json.dumps(exchange.request, sort_keys=True)), failed


def _batches(exchange: Exchange) -> Iterator[tuple[Hashable, bool]]:
    for batch in batches(exchange):
        number = batch.producer_id, batch.producer_epoch, batch.base_sequence
        same = number if batch.idempotent else batch.records
        failed = not exchange.answered or batch.error_code != 0
        acks = (exchange.request or {}).get("acks")
        yield (exchange.client_id, batch.topic, batch.partition, same), failed and acks != 0
