"""A timer for a moment in ns, on an event loop that counts in ms: never early, and hardly late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

MS: Final = 1_000_000


class Timer:
    """A timer that calls `ring` at a moment of `clock`.

    uvloop rounds to whole ms and may fire one early, asyncio's loop up to one late. The timer therefore
    sleeps for whole ms, and polls through the rest of the last one while the loop serves others.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, clock: Callable[[], int], ring: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._ring = ring
        self._moment: int | None = None
        self._timer: asyncio.TimerHandle | None = None

    def set(self, moment: int | None) -> None:
        """Ring at this moment and at no other; None: not at all."""
        if moment == self._moment:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._moment = moment
        if moment is not None:
            self._sleep(moment - self._clock())

    def _sleep(self, ns: int) -> None:
        self._timer = self._loop.call_later(max(ns, 0) // MS / 1e3, self._look)

    def _look(self) -> None:
        assert self._moment is not None  # noqa: S101 - what is not set does not fire
        remaining = self._moment - self._clock()
        if remaining > 0:
            self._sleep(remaining)
            return
        self._moment = self._timer = None
        self._ring()
