"""Limits the rate of recurring lines for the person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

EVERY: Final = 10.0
"""Seconds between two lines about the same subject."""


class RateLimitedLines:
    """Reports the first line about a subject, then at most one in so many seconds.

    A line counts those that were left out.
    """

    def __init__(self, say: Callable[[str], None], every: float = EVERY) -> None:
        self._say = say
        self._every = every
        self._next: dict[str, float] = {}
        self._unsaid: Counter[str] = Counter()

    def say(self, subject: str, text: str, now: float) -> None:
        """Report a line about a subject, unless one was reported recently.

        `now` is in seconds, on any clock that does not go back.
        """
        left_out = self.due(subject, now)
        if left_out is not None:
            self._say(f"{text}; {left_out} more since the last such line" if left_out else text)

    def due(self, subject: str, now: float) -> int | None:
        """Return how many lines were left out since the last one; None if this one is left out, too."""
        if now < self._next.get(subject, now):
            self._unsaid[subject] += 1
            return None
        self._next[subject] = now + self._every
        return self._unsaid.pop(subject, 0)
