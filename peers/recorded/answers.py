"""The choice of the recorded exchange that answers a request: the first unused one with the same request."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from barnabas.peers.recorded.shape import named_entities, shape
from barnabas.specs.keys import (
    ADD_OFFSETS_TO_TXN,
    ADD_PARTITIONS_TO_TXN,
    API_VERSIONS,
    END_TXN,
    FETCH,
    PRODUCE,
    TXN_OFFSET_COMMIT,
)

MatchKind = Literal["same bytes", "same shape", "same names", "again"]
"""The reason for the choice of an exchange. `again`: all exchanges with the same request are used, so the
last one with a response repeats; for the others the client may not have waited."""

ONCE: Final = frozenset(
    (PRODUCE, ADD_PARTITIONS_TO_TXN, ADD_OFFSETS_TO_TXN, END_TXN, TXN_OFFSET_COMMIT)
)
"""APIs whose effect must not repeat."""

ANY: Final = "any"
"""Stands for every broker."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A recorded exchange and the reason for its choice. It may have no response."""

    exchange: Exchange
    how: MatchKind


@dataclass(slots=True)
class _Queue:
    """Exchanges with the same label, by number in recorded order; those before `at` are used."""

    numbers: list[int] = field(default_factory=list)
    at: int = 0
    responded: int | None = None
    """The last that has a response."""

    def first(self, used: set[int]) -> int | None:
        """Return the first exchange that was not used yet."""
        while self.at < len(self.numbers) and self.numbers[self.at] in used:
            self.at += 1
        return self.numbers[self.at] if self.at < len(self.numbers) else None


class Answers:
    """The recorded exchanges. Each one answers one request; then the last response of its label repeats."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self.used: set[int] = set()
        """Used exchanges, by their number in the recording."""
        self.recorded: list[Exchange] = []
        self._lines: defaultdict[Hashable, _Queue] = defaultdict(_Queue)
        for exchange in exchanges:
            body = exchange.request_body
            if exchange.key in (API_VERSIONS, SASL_TOKEN) or body is None:
                continue
            for how, label in _labels(exchange.key, exchange.version, body):
                for broker in (exchange.broker, ANY):
                    line = self._lines[how, broker, label]
                    line.numbers.append(len(self.recorded))
                    if exchange.response_body is not None:
                        line.responded = len(self.recorded)
            self.recorded.append(exchange)

    def find(self, key: int, version: int, body: bytes, broker: int | None = None) -> Answer | None:
        """Return the exchange that answers a request; None if nothing like the request was recorded.

        Among exchanges that fit equally well, those of `broker` come first, then the first recorded.
        """
        lines = []
        for how, label in _labels(key, version, body):
            for target in (broker, ANY):
                line = self._lines.get((how, target, label))
                if line is None:
                    continue
                number = line.first(self.used)
                if number is not None:
                    self.used.add(number)
                    return Answer(self.recorded[number], how)
                lines.append(line)
        if not lines or key in ONCE:
            return None
        responded = (line.responded for line in lines if line.responded is not None)
        return Answer(self.recorded[next(responded, lines[0].numbers[-1])], "again")

    def unused(self) -> Counter[str]:
        """Count unused exchanges by API, except Fetch, see `barnabas.peers.recorded.log`."""
        return Counter(
            exchange.api
            for number, exchange in enumerate(self.recorded)
            if number not in self.used and exchange.key != FETCH
        )

    def versions(self) -> dict[int, tuple[int, int]]:
        """Return the first and last recorded version by API key."""
        versions: dict[int, tuple[int, int]] = {}
        for exchange in self.recorded:
            low, high = versions.get(exchange.key, (exchange.version, exchange.version))
            versions[exchange.key] = min(low, exchange.version), max(high, exchange.version)
        return versions


def _labels(key: int, version: int, body: bytes) -> Iterator[tuple[MatchKind, Hashable]]:
    """Yield the labels by which an exchange matches requests, the most exact first."""
    yield "same bytes", (key, version, body)
    yield "same shape", (key, version, shape(key, version, body))
    yield "same names", (key, version, named_entities(key, version, body))
