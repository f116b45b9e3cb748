"""What the page shows: the last exchanges, numbered from 0, within bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from threading import Lock
from typing import Final, NamedTuple

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import Filter

COUNT: Final = 100_000
"""Exchanges that are held at most, unless told otherwise ..."""

SIZE: Final = 512 << 20
"""... and bytes of their bodies."""

LOOKS: Final = 5_000
"""Exchanges that one question looks at, at most."""


class Found(NamedTuple):
    """Numbers that match, and how to go on: the next question's `after`."""

    numbers: list[int]
    after: int


class Store:
    """One thread adds, any may ask. What falls out is the oldest; numbers go on."""

    def __init__(self, context: Context, count: int = COUNT, size: int = SIZE) -> None:
        self.context = context
        self.first = 0
        """The oldest number that is held: so many fell out."""
        self.over = False
        """Whether nothing more will come."""
        self.trouble = ""
        """Why nothing more comes, if that is not the end."""
        self._count, self._size = count, size
        self._held: deque[tuple[Exchange, int]] = deque()
        self._weight = 0
        self._lock = Lock()

    @property
    def end(self) -> int:
        """The number that the next one gets."""
        with self._lock:
            return self.first + len(self._held)

    def add(self, exchange: Exchange) -> None:
        """Hold one more."""
        weight = exchange.weight
        with self._lock:
            self._held.append((exchange, weight))
            self._weight += weight
            while len(self._held) > self._count or (
                self._weight > self._size and len(self._held) > 1
            ):
                self._weight -= self._held.popleft()[1]
                self.first += 1

    def get(self, number: int) -> Exchange | None:
        """One of those held; None: it fell out, or has not come."""
        with self._lock:
            at = number - self.first
            return self._held[at][0] if 0 <= at < len(self._held) else None

    def find(self, passes: Filter, after: int = -1, looks: int = LOOKS) -> Found:
        """Those behind a number that pass, of the next `looks`."""
        numbers = []
        last = after
        for last, exchange in self._some(after, looks):
            if passes(exchange):
                numbers.append(last)
        return Found(numbers, last)

    def _some(self, after: int, looks: int) -> Iterator[tuple[int, Exchange]]:
        with self._lock:
            at = max(0, after + 1 - self.first)
            first = self.first + at
            some = [exchange for exchange, _ in islice(self._held, at, at + looks)]
        yield from enumerate(some, first)
