"""Which topic ids the proxy asks the brokers for, and when: decided here, asked by `topic_name_client`.

Only what a rule could not be decided without is asked for, and only if no client's Metadata has said it.
One question at a time; what brokers don't know is left alone for a while, and so are brokers that don't
answer.
"""

from __future__ import annotations

import uuid
from collections.abc import Container, Iterable, Mapping
from typing import Final

from barnabas.captures.kafka.context.memory import Memory

BATCH: Final = 20
"""Ids in one question: each is answered with all partitions of its topic."""

WANTED: Final = 10_000
"""Ids that wait to be asked for, and that brokers did not know; what is beyond is asked when it comes
again."""

PATIENCE: Final = 1_000_000_000
"""ns until the next question after one that failed; twice as long after each more, ..."""

LONGEST: Final = 60 * PATIENCE
"""... and at most this. So long, too, is what brokers did not know not asked again."""


class Questions:
    """Ids without a name, from when a rule wants it until it is known, or the brokers don't know it."""

    def __init__(self) -> None:
        self.trouble = ""
        """Why names that are wanted are not known; "" if nothing is in the way."""
        self._wanted: dict[uuid.UUID, None] = {}
        self._unknown: Memory[uuid.UUID, int] = Memory(WANTED)
        self._failures = 0
        self._pause = 0

    def __len__(self) -> int:
        return len(self._wanted)

    def want(self, ids: Iterable[uuid.UUID], now: int) -> None:
        """A rule can't be decided without the names of these."""
        for topic in ids:
            if len(self._wanted) < WANTED and self._unknown.get(topic, now) <= now:
                self._wanted[topic] = None

    def forget(self) -> None:
        """The rules are others: what they want they will say."""
        self._wanted.clear()
        self.trouble = ""

    def pause(self, now: int) -> int:
        """So many ns from now nothing may be asked."""
        return max(self._pause - now, 0)

    def next(self, known: Container[uuid.UUID], now: int) -> tuple[uuid.UUID, ...]:
        """What is to be asked now; () if nothing is. What is known meanwhile is no longer wanted."""
        for topic in list(self._wanted):
            if topic in known:
                del self._wanted[topic]
        if not self._wanted:
            self.trouble = ""
        if self.pause(now):
            return ()
        return tuple(self._wanted)[:BATCH]

    def answered(
        self, asked: Iterable[uuid.UUID], names: Mapping[uuid.UUID, str], now: int
    ) -> None:
        """The brokers have told these names of those that were asked for."""
        self._failures, self._pause, self.trouble = 0, 0, ""
        for topic in asked:
            self._wanted.pop(topic, None)
            if topic not in names:
                self._unknown[topic] = now + LONGEST
                self.trouble = "the brokers have no topic with this ID, or do not say"

    def failed(self, reason: str, now: int) -> bool:
        """They could not be asked, and why. Whether that is news."""
        self._failures += 1
        self._pause = now + min(PATIENCE << min(self._failures - 1, 10), LONGEST)
        news, self.trouble = reason != self.trouble, reason
        return news
