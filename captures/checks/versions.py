"""`versions`: a request is of a version that the broker had offered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.facts import OFFERED, RANGE
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
from barnabas.captures.kafka.notes import NOT_OFFERED
from barnabas.specs.keys import API_VERSIONS


@dataclass(slots=True)
class _Offer:
    since: int
    ranges: bytes
    """See facts.RANGE."""
    evidence: Evidence

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return len(self.ranges)

    def range(self, key: int) -> tuple[int, int]:
        """The least and the greatest version of an API; none: 0 to -1."""
        found = RANGE.iter_unpack(self.ranges)
        return next(((low, high) for one, low, high in found if one == key), (0, -1))


def versions(_: NoSettings) -> See:
    """Requests of an API or a version that the broker's ApiVersions response had not."""
    by_connection: Memory[int, _Offer] = Memory()
    by_broker: Memory[int, _Offer] = Memory()
    said: Memory[tuple[int, int, int, int], None] = Memory()
    """When it was offered, connection, API key and version of what was found already."""

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        if exchange.key < 0:
            return
        own = by_connection.get(exchange.connection)
        offer = own
        if own is None and exchange.broker is not None and exchange.key != API_VERSIONS:
            offer = by_broker.get(exchange.broker)
        if offer is not None and exchange.ts >= offer.since:
            yield from _compared(exchange, offer, said)
        if exchange.key == API_VERSIONS:
            _learn(exchange, by_connection, by_broker)

    return see


def _compared(
    exchange: Exchange, offer: _Offer, said: Memory[tuple[int, int, int, int], None]
) -> Iterator[Finding]:
    low, high = offer.range(exchange.key)
    asked = (offer.since, exchange.connection, exchange.key, exchange.version)
    within = low <= exchange.version <= high
    if asked in said or (within and exchange.note != NOT_OFFERED):
        return
    said[asked] = None
    had = f"{low} to {high}" if high >= low else "none"
    why = "the proxy was told to offer less" if within else f"the broker offers {had}"
    yield Finding(
        "error",
        f"{exchange.api} v{exchange.version} was sent; {why}",
        "A broker closes the connection on such a request. Use the highest version that both "
        "sides support, and send ApiVersions on each new connection.",
        (offer.evidence, evidence(exchange)),
    )


def _learn(
    exchange: Exchange, by_connection: Memory[int, _Offer], by_broker: Memory[int, _Offer]
) -> None:
    end, ranges = exchange.answered, OFFERED.of(exchange)
    if end is None or ranges is None:
        return
    offer = _Offer(end, ranges, evidence(exchange))
    by_connection[exchange.connection] = offer
    if exchange.broker is not None:
        by_broker[exchange.broker] = offer


CHECK: Final = Check(
    "versions", NoSettings(), versions, "requests of a version that the broker did not offer",
    "connections that sent ApiVersions, or to a broker to which another one had sent it (0.10.0 "
    "and later, KIP-35); ApiVersions itself may be too new once (KIP-511)",
    "broker",
)  # fmt: skip
