"""Check `versions`: each request has a version that the broker supports."""

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
    """Packed as facts.RANGE."""
    evidence: Evidence

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        return len(self.ranges)

    def range(self, key: int) -> tuple[int, int]:
        """Return the lowest and highest version of an API; 0 to -1 if it is unsupported."""
        ranges = RANGE.iter_unpack(self.ranges)
        return next(((low, high) for api, low, high in ranges if api == key), (0, -1))


def versions(_: NoSettings) -> See:
    """Find requests of an API or version that the broker's ApiVersions response lacks."""
    by_connection: Memory[int, _Offer] = Memory()
    by_broker: Memory[int, _Offer] = Memory()
    reported: Memory[tuple[int, int, int, int], None] = Memory()
    """Time of the offer, connection, API key and version of reported requests."""

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        if exchange.key < 0:
            return
        own_offer = by_connection.get(exchange.connection)
        offer = own_offer
        if own_offer is None and exchange.broker is not None and exchange.key != API_VERSIONS:
            offer = by_broker.get(exchange.broker)
        if offer is not None and exchange.ts >= offer.since:
            yield from _compared(exchange, offer, reported)
        if exchange.key == API_VERSIONS:
            _learn(exchange, by_connection, by_broker)

    return see


def _compared(
    exchange: Exchange, offer: _Offer, reported: Memory[tuple[int, int, int, int], None]
) -> Iterator[Finding]:
    low, high = offer.range(exchange.key)
    request = (offer.since, exchange.connection, exchange.key, exchange.version)
    within = low <= exchange.version <= high
    if request in reported or (within and exchange.note != NOT_OFFERED):
        return
    reported[request] = None
    supported = f"{low} to {high}" if high >= low else "none"
    offered = "the proxy was told to offer less" if within else f"the broker offers {supported}"
    yield Finding(
        "error",
        f"{exchange.api} v{exchange.version} was sent; {offered}",
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
