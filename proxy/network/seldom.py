"""Lines that come again and again, told once in a while."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

EVERY: Final = 10.0
"""Seconds between two lines about the same."""


class Seldom:
    """Says the first line about a thing, then at most one in so many seconds, with those left out."""

    def __init__(self, say: Callable[[str], None], every: float = EVERY) -> None:
        self._say = say
        self._every = every
        self._next: dict[str, float] = {}
        self._unsaid: Counter[str] = Counter()

    def say(self, about: str, text: str, now: float) -> None:
        """now: in seconds, of any clock that goes on."""
        unsaid = self.due(about, now)
        if unsaid is not None:
            self._say(f"{text}; {unsaid} more since the last such line" if unsaid else text)

    def due(self, about: str, now: float) -> int | None:
        """How many lines were left out since the last one, if one is due; None: it is left out, too."""
        if now < self._next.get(about, now):
            self._unsaid[about] += 1
            return None
        self._next[about] = now + self._every
        return self._unsaid.pop(about, 0)
