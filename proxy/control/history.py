"""The last exchanges, and those to come for followers; bounded, and counted where exchanges are lost."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Final

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange

MOST: Final = 1000
"""The most exchanges that are retained, and that wait for one follower."""

BYTES: Final = 16 << 20
"""The most bytes of bodies that are retained, and that wait for one follower."""

BODIES: Final = 4 << 20
"""The bytes of an exchange's bodies above which it is retained without them."""

FOLLOWERS: Final = 8
"""The most followers at a time."""

KINDS: Final = 4096
"""The most kinds of exchanges that are counted separately: a client may send any key and version."""

Predicate = Callable[[Exchange], bool]
ExchangeKind = tuple[str, str, str]
"""API, version, and error (`none`, or `unknown` if the response was not read)."""

OTHER: Final[ExchangeKind] = ("other", "other", "other")


class TooMany(RuntimeError):
    """The error that there are enough followers."""


class _Bounded:
    """Exchanges in order, bounded in number and size."""

    def __init__(self, most: int, bytes_: int) -> None:
        self.items: deque[Exchange] = deque()
        self._most = most
        self._bytes = bytes_
        self._held = 0

    def has_room(self, exchange: Exchange) -> bool:
        full = len(self.items) >= self._most
        return not full and self._held + exchange.weight <= self._bytes

    def append(self, exchange: Exchange) -> None:
        self.items.append(exchange)
        self._held += exchange.weight

    def pop(self) -> Exchange:
        self._held -= self.items[0].weight
        return self.items.popleft()


class Follower:
    """One reader of the exchanges to come; exchanges for which it is too slow are lost to it."""

    def __init__(self, passes: Predicate, most: int, bytes_: int) -> None:
        self.lost = 0
        """The number of exchanges lost since the last report of a loss."""
        self._passes = passes
        self._waiting = _Bounded(most, bytes_)
        self._news = asyncio.Event()
        self.over = False

    def offer(self, exchange: Exchange) -> bool:
        """Queue an exchange if it passes the filter; return False if it is lost."""
        if not self._passes(_copy(exchange)):
            return True
        self._news.set()
        if not self._waiting.has_room(exchange):
            self.lost += 1
            return False
        self._waiting.append(exchange)
        return True

    def end(self) -> None:
        """End the stream: no more exchanges will come."""
        self.over = True
        self._news.set()

    async def next(self) -> Exchange | None:
        """Wait for the next exchange; None if some were lost, or the stream has ended."""
        while not (self._waiting.items or self.over or self.lost):
            self._news.clear()
            await self._news.wait()
        return self._waiting.pop() if self._waiting.items else None


class History:
    """The last exchanges, numbered from 0. All methods belong to the loop that made it.

    `watch` is called when the first follower begins and when the last one ends. Copies go in and out: a
    decoded exchange takes many times its size.
    """

    def __init__(
        self,
        watch: Callable[[bool], None] = lambda _: None,
        *,
        most: int = MOST,
        bytes_: int = BYTES,
        context: Context | None = None,
        learn: Callable[[Exchange], None] | None = None,
    ) -> None:
        self._watch = watch
        self.over = False
        """Whether no more exchanges will come."""
        self.count = 0
        """The number of exchanges so far."""
        self.lost = 0
        """The number of exchanges lost to followers that were too slow."""
        self.kinds: Counter[ExchangeKind] = Counter()
        self.context = context or Context()
        """The facts that exchanges so far have revealed, which explain other exchanges."""
        self._learn = learn or self.context.learn
        self._limits = min(most, MOST), min(bytes_, BYTES)
        self._kept = _Bounded(most, bytes_)
        self._followers: list[Follower] = []
        self._news = asyncio.Event()
        self.fresh: Callable[[], Awaitable[None]] = _now
        """Waits until all exchanges that have passed so far are here."""
        self.under_way: Callable[[], list[Exchange]] = list
        """Returns the exchanges that are not over, in their present state, as far as they are known."""

    def add(self, exchange: Exchange) -> None:
        """Add an exchange that is over."""
        self.count += 1
        self._news.set()
        self._learn(exchange)
        error = exchange.error
        exchange_kind = (
            exchange.api,
            str(exchange.version),
            error or ("unknown" if error is None else "none"),
        )
        self.kinds[
            exchange_kind if exchange_kind in self.kinds or len(self.kinds) < KINDS else OTHER
        ] += 1
        retained = _copy(exchange, bodies=exchange.weight <= BODIES)
        while self._kept.items and not self._kept.has_room(retained):
            self._kept.pop()
        self._kept.append(retained)
        for follower in self._followers:
            self.lost += not follower.offer(_copy(retained))

    @property
    def first(self) -> int:
        """Return the number of the oldest retained exchange, which is also how many were dropped."""
        return self.count - len(self._kept.items)

    def get(self, number: int) -> Exchange | None:
        """Return a retained exchange; None if it was dropped, or has not come."""
        at = number - self.first
        return _copy(self._kept.items[at]) if 0 <= at < len(self._kept.items) else None

    def following(self, after: int, most: int) -> list[tuple[int, Exchange]]:
        """Return the retained exchanges after a number, oldest first, with their numbers."""
        at = max(0, after + 1 - self.first)
        return [
            (number, _copy(each))
            for number, each in enumerate(islice(self._kept.items, at, at + most), self.first + at)
        ]

    async def more(self, number: int) -> None:
        """Wait until an exchange after a number has come, or no more will come."""
        while self.count <= number + 1 and not self.over:
            self._news.clear()
            await self._news.wait()

    def kept(self) -> Iterator[tuple[int, Exchange]]:
        """Yield all exchanges retained now, oldest first, with their numbers.

        They are no copies, so the caller must not decode them. Exchanges may be added meanwhile.
        """
        return enumerate(list(self._kept.items), self.first)

    def latest(self, since: int = 0) -> Iterator[Exchange]:
        """Yield the retained exchanges, latest first, without the first `since` of all.

        Exchanges may be added meanwhile.
        """
        for number in range(self.count - 1, max(self.first, since) - 1, -1):
            if (exchange := self.get(number)) is None:
                return
            yield exchange

    @contextmanager
    def follow(self, passes: Predicate) -> Iterator[Follower]:
        """Follow the exchanges from now on.

        Raises:
            TooMany: There are enough followers.
        """
        if len(self._followers) >= FOLLOWERS:
            raise TooMany(f"{FOLLOWERS} streams are open already: close one")
        follower = Follower(passes, *self._limits)
        self._followers.append(follower)
        if len(self._followers) == 1:
            self._watch(True)
        try:
            yield follower
        finally:
            self._followers.remove(follower)
            if not self._followers:
                self._watch(False)

    @property
    def followers(self) -> int:
        """Return the number of followers."""
        return len(self._followers)

    def close(self) -> None:
        """End all streams: no more exchanges will come."""
        self.over = True
        self._news.set()
        for follower in self._followers:
            follower.end()


async def _now() -> None:
    """Return at once."""


def _copy(exchange: Exchange, *, bodies: bool = True) -> Exchange:
    """Return an undecoded copy without facts, with its error, and perhaps without bodies."""
    copy = replace(exchange, facts=None)
    if not bodies:
        copy.leave_out("request")
        copy.leave_out("response")
    copy.set_error(exchange.error)
    return copy
