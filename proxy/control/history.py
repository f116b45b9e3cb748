"""The last exchanges, and those to come for whoever follows: bounded, and counted where they lose."""

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
"""Exchanges that are kept, and that wait for one follower."""

BYTES: Final = 16 << 20
"""Bytes of bodies that are kept, and that wait for one follower."""

BODIES: Final = 4 << 20
"""Bytes of an exchange's bodies above which it is kept without them."""

FOLLOWERS: Final = 8
"""Followers at a time."""

KINDS: Final = 4096
"""Kinds of exchanges that are told apart: a client may send any key and version."""

Passes = Callable[[Exchange], bool]
Kind = tuple[str, str, str]
"""API, version, and error (`none`, or `unknown` if the response was not read)."""

OTHER: Final[Kind] = ("other", "other", "other")


class TooMany(RuntimeError):
    """There are enough followers."""


class _Bounded:
    """Exchanges in order, within a number and a size."""

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
    """One reader of the exchanges to come. What it is too slow for is lost to it."""

    def __init__(self, passes: Passes, most: int, bytes_: int) -> None:
        self.lost = 0
        """Exchanges lost since it was last told."""
        self._passes = passes
        self._waiting = _Bounded(most, bytes_)
        self._news = asyncio.Event()
        self.over = False

    def offer(self, exchange: Exchange) -> bool:
        """An exchange is over: it waits here if it passes. False: it is lost."""
        if not self._passes(_copy(exchange)):
            return True
        self._news.set()
        if not self._waiting.has_room(exchange):
            self.lost += 1
            return False
        self._waiting.append(exchange)
        return True

    def end(self) -> None:
        """Nothing more will come."""
        self.over = True
        self._news.set()

    async def next(self) -> Exchange | None:
        """The next one, which may take long. None: some were lost, or nothing more will come."""
        while not (self._waiting.items or self.over or self.lost):
            self._news.clear()
            await self._news.wait()
        return self._waiting.pop() if self._waiting.items else None


class History:
    """The last exchanges, numbered from 0. All methods are for the loop that made it.

    `watch` is told when somebody begins to follow, and when nobody does any longer. Copies go in
    and out: an exchange keeps what was decoded of it, which is many times its size.
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
        """Whether nothing more will come."""
        self.count = 0
        """Exchanges so far."""
        self.lost = 0
        """Exchanges lost to followers that were too slow."""
        self.kinds: Counter[Kind] = Counter()
        self.context = context or Context()
        """What exchanges so far have taught, to say what others mean."""
        self._learn = learn or self.context.learn
        self._limits = min(most, MOST), min(bytes_, BYTES)
        self._kept = _Bounded(most, bytes_)
        self._followers: list[Follower] = []
        self._news = asyncio.Event()
        self.fresh: Callable[[], Awaitable[None]] = _now
        """Comes back when what has passed so far is here."""
        self.under_way: Callable[[], list[Exchange]] = list
        """The exchanges that are not over, as they stand, as far as somebody knows them."""

    def add(self, exchange: Exchange) -> None:
        """An exchange is over."""
        self.count += 1
        self._news.set()
        self._learn(exchange)
        error = exchange.error
        kind = (
            exchange.api,
            str(exchange.version),
            error or ("unknown" if error is None else "none"),
        )
        self.kinds[kind if kind in self.kinds or len(self.kinds) < KINDS else OTHER] += 1
        kept = _copy(exchange, bodies=exchange.weight <= BODIES)
        while self._kept.items and not self._kept.has_room(kept):
            self._kept.pop()
        self._kept.append(kept)
        for follower in self._followers:
            self.lost += not follower.offer(_copy(kept))

    @property
    def first(self) -> int:
        """The number of the oldest that is kept: so many fell out."""
        return self.count - len(self._kept.items)

    def get(self, number: int) -> Exchange | None:
        """One of those kept; None: it fell out, or has not come."""
        at = number - self.first
        return _copy(self._kept.items[at]) if 0 <= at < len(self._kept.items) else None

    def behind(self, after: int, most: int) -> list[tuple[int, Exchange]]:
        """Those behind a number that are kept, oldest first, with their numbers."""
        at = max(0, after + 1 - self.first)
        return [
            (number, _copy(each))
            for number, each in enumerate(islice(self._kept.items, at, at + most), self.first + at)
        ]

    async def more(self, after: int) -> None:
        """Until something has come behind a number, or nothing more will come."""
        while self.count <= after + 1 and not self.over:
            self._news.clear()
            await self._news.wait()

    def kept(self) -> Iterator[tuple[int, Exchange]]:
        """All that are kept now, oldest first, with their numbers, also while others come. They are no
        copies: for who decodes nothing."""
        return enumerate(list(self._kept.items), self.first)

    def latest(self) -> Iterator[Exchange]:
        """Those kept, latest first, also while others come."""
        for number in range(self.count - 1, self.first - 1, -1):
            if (found := self.get(number)) is None:
                return
            yield found

    @contextmanager
    def follow(self, passes: Passes) -> Iterator[Follower]:
        """Exchanges from now on. Raises TooMany."""
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
        """How many there are."""
        return len(self._followers)

    def close(self) -> None:
        """Nothing more will come."""
        self.over = True
        self._news.set()
        for follower in self._followers:
            follower.end()


async def _now() -> None:
    """Nothing has to be waited for."""


def _copy(exchange: Exchange, *, bodies: bool = True) -> Exchange:
    """The same with nothing decoded, and perhaps without bodies; its error is kept."""
    copy = replace(exchange)
    if not bodies:
        copy.leave_out("request")
        copy.leave_out("response")
    copy.know(exchange.error)
    return copy
