"""Counters of exchanges: errors, bytes and latencies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from barnabas.captures.checks.finding import MS
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.normal_errors import is_failed
from barnabas.captures.summary.api_stats import Latencies


@dataclass(slots=True)
class Counts:
    """The counts of some exchanges."""

    count: int = 0
    errors: int = 0
    """Responses with an error that is no part of normal operation."""
    bytes: int = 0
    """Bytes of requests and responses."""
    latencies: Latencies = field(default_factory=Latencies)

    def note(self, exchange: Exchange) -> None:
        """Count an exchange."""
        self.count += 1
        self.errors += is_failed(exchange)
        self.bytes += exchange.request_size + (exchange.response_size or 0)
        if exchange.latency_ms is not None:
            self.latencies.note(round(exchange.latency_ms * MS))

    def add(self, other: Self) -> None:
        """Add other counts."""
        self.count += other.count
        self.errors += other.errors
        self.bytes += other.bytes
        self.latencies.add(other.latencies)
