"""Decides which topic ids the proxy asks the brokers for, and when; `topic_name_lookup` asks.

The proxy asks only for names without which a rule is undecided, and only if no client's Metadata response has
them. It sends one request at a time. Ids that brokers do not know rest for a while, and so do brokers that do
not respond.
"""

from __future__ import annotations

import uuid
from collections.abc import Container, Iterable, Mapping
from typing import Final

from barnabas.captures.kafka.context.memory import Memory

BATCH: Final = 20
"""The most ids in one request: the response has all partitions of each topic."""

WANTED: Final = 10_000
"""The most ids to ask for, and the most that brokers did not know; further ids are added when they occur
again."""

PATIENCE: Final = 1_000_000_000
"""The pause in ns after a failed request; it doubles after each further failure, ..."""

LONGEST: Final = 60 * PATIENCE
"""... up to this. It is also the time for which unknown ids are not asked for again."""


class UnresolvedTopics:
    """The topic ids without a name that rules need, until the name is known or the brokers lack it."""

    def __init__(self) -> None:
        self.trouble = ""
        """Why needed names are unknown; "" if no request has failed."""
        self._wanted: dict[uuid.UUID, None] = {}
        self._unknown: Memory[uuid.UUID, int] = Memory(WANTED)
        self._failures = 0
        self._pause = 0

    def __len__(self) -> int:
        return len(self._wanted)

    def want(self, ids: Iterable[uuid.UUID], now: int) -> None:
        """Add ids of topics without whose names a rule is undecided."""
        for topic in ids:
            if len(self._wanted) < WANTED and self._unknown.get(topic, now) <= now:
                self._wanted[topic] = None

    def forget(self) -> None:
        """Forget all ids, since the rules have changed."""
        self._wanted.clear()
        self.trouble = ""

    def pause(self, now: int) -> int:
        """Return how many ns must pass before the next request."""
        return max(self._pause - now, 0)

    def next(self, known: Container[uuid.UUID], now: int) -> tuple[uuid.UUID, ...]:
        """Return the ids to ask for now; () if there are none. Ids whose names are known are dropped."""
        for topic in list(self._wanted):
            if topic in known:
                del self._wanted[topic]
        if not self._wanted:
            self.trouble = ""
        if self.pause(now):
            return ()
        return tuple(self._wanted)[:BATCH]

    def answered(
        self, requested: Iterable[uuid.UUID], names: Mapping[uuid.UUID, str], now: int
    ) -> None:
        """Record the names that the brokers returned for these ids."""
        self._failures, self._pause, self.trouble = 0, 0, ""
        for topic in requested:
            self._wanted.pop(topic, None)
            if topic not in names:
                self._unknown[topic] = now + LONGEST
                self.trouble = "the brokers have no topic with this ID, or do not say"

    def failed(self, reason: str, now: int) -> bool:
        """Record that the brokers could not be asked; return whether the reason is new."""
        self._failures += 1
        self._pause = now + min(PATIENCE << min(self._failures - 1, 10), LONGEST)
        news, self.trouble = reason != self.trouble, reason
        return news
