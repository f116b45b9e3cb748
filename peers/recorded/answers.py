"""Which recorded exchange answers a request: the one that asked for the same, in recorded order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from barnabas.peers.recorded.shape import about, shape
from barnabas.specs.keys import (
    ADD_OFFSETS_TO_TXN,
    ADD_PARTITIONS_TO_TXN,
    API_VERSIONS,
    END_TXN,
    FETCH,
    PRODUCE,
    TXN_OFFSET_COMMIT,
)

How = Literal["same bytes", "same shape", "same names", "again"]
"""Why an exchange was chosen. `again`: all that asked for the same have been answered, so the last of
them that has a response answers once more; to the others the client may just not have waited."""

ONCE: Final = frozenset(
    (PRODUCE, ADD_PARTITIONS_TO_TXN, ADD_OFFSETS_TO_TXN, END_TXN, TXN_OFFSET_COMMIT)
)
"""APIs whose effect is done once."""

ANY: Final = "any"
"""Stands for every broker."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A recorded exchange and why it was chosen. It may have had no response."""

    exchange: Exchange
    how: How


@dataclass(slots=True)
class _Line:
    """Numbers of exchanges that one label stands for, in recorded order; those before `at` are used."""

    numbers: list[int] = field(default_factory=list)
    at: int = 0
    responded: int | None = None
    """The last that has a response."""

    def first(self, used: set[int]) -> int | None:
        """The first that has not answered yet."""
        while self.at < len(self.numbers) and self.numbers[self.at] in used:
            self.at += 1
        return self.numbers[self.at] if self.at < len(self.numbers) else None


class Answers:
    """Recorded exchanges, each of which answers once; then the last response of its shape does again."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self.used: set[int] = set()
        """Those that have answered, by their number in the recording."""
        self.recorded: list[Exchange] = []
        self._lines: defaultdict[Hashable, _Line] = defaultdict(_Line)
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
        """The answer to a request; None if nothing like it was recorded.

        Among several that fit equally well those to that broker go first, then the first recorded.
        """
        lines = []
        for how, label in _labels(key, version, body):
            for at in (broker, ANY):
                line = self._lines.get((how, at, label))
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

    def left(self) -> Counter[str]:
        """API -> exchanges that have not answered; but for Fetch, see `barnabas.peers.recorded.log`."""
        return Counter(
            exchange.api
            for number, exchange in enumerate(self.recorded)
            if number not in self.used and exchange.key != FETCH
        )

    def versions(self) -> dict[int, tuple[int, int]]:
        """API key -> the first and last version that was recorded."""
        found: dict[int, tuple[int, int]] = {}
        for exchange in self.recorded:
            low, high = found.get(exchange.key, (exchange.version, exchange.version))
            found[exchange.key] = min(low, exchange.version), max(high, exchange.version)
        return found


def _labels(key: int, version: int, body: bytes) -> Iterator[tuple[How, Hashable]]:
    """What an exchange is found by, the best first."""
    yield "same bytes", (key, version, body)
    yield "same shape", (key, version, shape(key, version, body))
    yield "same names", (key, version, about(key, version, body))
