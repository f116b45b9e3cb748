"""A timer for a moment in ns, on an event loop that counts in ms: never early, and hardly late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

MS: Final = 1_000_000


class Timer:
    """Calls `ring` at a moment of `clock`.

    uvloop rounds to a whole ms and may fire one early, asyncio's loop up to one late. So the whole ms
    are slept through, and what is left of the last one is waited for turn by turn, while the loop
    serves whoever else wants something.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, clock: Callable[[], int], ring: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._ring = ring
        self._at: int | None = None
        self._timer: asyncio.TimerHandle | None = None

    def set(self, at: int | None) -> None:
        """Ring at this moment and at no other; None: not at all."""
        if at == self._at:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._at = at
        if at is not None:
            self._sleep(at - self._clock())

    def _sleep(self, ns: int) -> None:
        self._timer = self._loop.call_later(max(ns, 0) // MS / 1e3, self._look)

    def _look(self) -> None:
        assert self._at is not None  # noqa: S101 - what is not set does not fire
        left = self._at - self._clock()
        if left > 0:
            self._sleep(left)
            return
        self._at = self._timer = None
        self._ring()
