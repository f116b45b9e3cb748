"""Recognise requests that a client sends again after an error or without a response.

The state is small: only failed requests are remembered, a few of each client and API, and not for long.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from barnabas.captures.checks.facts import RETRIABLE, content_hash
from barnabas.captures.checks.finding import client_key
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import is_failure
from barnabas.specs.keys import API_VERSIONS, FETCH, SHARE_FETCH

REPEATED: Final = (API_VERSIONS, FETCH, SHARE_FETCH)
"""APIs whose equal requests are no retries: each connection and each poll sends them."""

CLIENTS: Final = 1000
"""Clients and APIs whose failed requests are remembered."""

REQUESTS: Final = 16
"""Failed requests of one client and API that are remembered, the latest ones."""

PATIENCE: Final = 60_000_000_000
"""Nanoseconds after which an equal request is no retry any more."""


class _Failed(NamedTuple):
    times: int
    end: int
    first: int


class Retry(NamedTuple):
    """A request that a client sends, and its earlier attempts in vain."""

    times: int
    """How often the client has sent the same request before; 0: it is no retry."""
    first: int
    """The number of the first attempt."""


class Retries:
    """The failed requests of clients, by which later requests are recognised as retries."""

    def __init__(self) -> None:
        self._failed: Memory[tuple[str, int], dict[int, _Failed]] = Memory(CLIENTS)

    def count(self, exchange: Exchange, context: Context) -> int:
        """Return how often the client has sent the same request before, in vain; 0: it is no retry.

        Exchanges come in the order in which they end, and `context` has learned from them.
        """
        return self.retry(exchange, context, 0).times

    def retry(self, exchange: Exchange, context: Context, number: int) -> Retry:
        """Return how often the client has sent the same request before, and the first attempt's number.

        Args:
            exchange: The exchange, as in `count`.
            context: The context, as in `count`.
            number: The number of the exchange, by which later attempts refer to it.
        """
        none = Retry(0, number)
        if exchange.key in REPEATED:
            return none
        failed = exchange.error in RETRIABLE or (
            exchange.latency_ms is None and is_failure(exchange.note)
        )
        of_client = client_key(exchange), exchange.key
        earlier = self._failed.get(of_client)
        if earlier is None and not failed:
            return none  # nearly all
        request = content_hash(exchange, context)
        if request is None:
            return none
        earlier = {} if earlier is None else earlier
        before = earlier.pop(request, None)
        retry = none
        if before is not None and before.end <= exchange.ts <= before.end + PATIENCE:
            retry = Retry(before.times, before.first)
        if failed:
            earlier[request] = _Failed(retry.times + 1, exchange.end, retry.first)
            if len(earlier) > REQUESTS:
                del earlier[next(iter(earlier))]
        if earlier:
            self._failed[of_client] = earlier
        else:
            self._failed.pop(of_client, None)
        return retry
