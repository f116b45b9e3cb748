"""How much time a session has: without that in which there was no processor for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

LOOK: Final = 0.1
"""Seconds between two looks at a session that goes on."""
_MORE: Final = 4
"""So many times as much time a session may be given because it had no processor."""


class Allowance:
    """So many seconds, from now on. Moments are of time.monotonic.

    delayed: for how long those that it is about had no processor, ever.
    """

    def __init__(self, seconds: float, now: float, delayed: Callable[[], float]) -> None:
        self._seconds, self._delayed = seconds, delayed
        self._deadline, self._latest = now + seconds, now + _MORE * seconds
        self.look = self._rest = now + seconds / 4
        """When it is looked at next; before a quarter is over nobody needs to know what follows."""
        self._before: float | None = None

    def shorten(self, seconds: float) -> None:
        """So many it is."""
        less, self._seconds = self._seconds - seconds, seconds
        self._deadline, self._latest = self._deadline - less, self._latest - _MORE * less

    def used_up(self, now: float, *, busy: bool) -> bool:
        """Whether it is. busy: it had a processor, and gets no more time."""
        self.look = min(now + LOOK, max(self._deadline, now))
        if now < self._deadline and (self._before is not None or now < self._rest):
            return False
        before, self._before = self._before, self._delayed()
        if now < self._deadline:
            return False
        without = 0.0 if before is None else self._before - before
        if busy or without < LOOK or now >= self._latest:
            return True
        self._deadline = min(now + without, self._latest)
        return False
