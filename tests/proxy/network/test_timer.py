from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from barnabas.proxy.network.timer import MS, Timer


class Loop:
    """Sleeps as often as it is asked, and wakes up off the mark by so many ns."""

    def __init__(self, off: int, turn: int = 20_000) -> None:
        self.now = 0
        self.off = off
        self.turn = turn
        self.asked: list[float] = []
        self.due: list[tuple[asyncio.TimerHandle, int]] = []

    def call_later(self, delay: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        self.asked.append(delay)
        handle = asyncio.TimerHandle(
            self.now, callback, (), cast("asyncio.AbstractEventLoop", self)
        )
        ns = round(delay * 1e9)
        self.due.append((handle, self.now + (max(ns + self.off, self.turn) if ns else self.turn)))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        self.due = [(other, at) for other, at in self.due if other is not handle]

    def get_debug(self) -> bool:
        return False

    def run(self) -> None:
        while self.due:
            handle, at = self.due.pop(0)
            self.now = max(self.now, at)
            handle._run()


def made(loop: Loop, ring: Callable[[], None]) -> Timer:
    return Timer(cast("asyncio.AbstractEventLoop", loop), lambda: loop.now, ring)


def rung(off: int, *moments: int | None) -> tuple[list[int], Loop]:
    """Return the times at which a timer rings that is set to these moments one after the other."""
    loop = Loop(off)
    found: list[int] = []
    timer = made(loop, lambda: found.append(loop.now))
    for moment in moments:
        timer.set(moment)
    loop.run()
    return found, loop


@pytest.mark.parametrize("off", [-MS, -300_000, 0, 40_000])
@pytest.mark.parametrize("at", [1, 20_000, 999_999, 20 * MS, 20 * MS + 1, 20 * MS + 999_999])
def test_it_rings_once_never_early_and_hardly_late(off: int, at: int) -> None:
    (when,), loop = rung(off, at)
    assert at <= when <= at + max(off, 0) + loop.turn
    assert all(delay * 1000 == int(delay * 1000) for delay in loop.asked)


def test_only_the_latest_moment_counts() -> None:
    assert rung(0, 5 * MS, 9 * MS, 7 * MS)[0] == [7 * MS]
    assert rung(0, 5 * MS, None)[0] == []


def test_it_can_be_set_when_it_rings() -> None:
    loop = Loop(0)
    found: list[int] = []

    def ring() -> None:
        found.append(loop.now)
        timer.set(None if len(found) == 3 else loop.now + MS)

    timer = made(loop, ring)
    timer.set(MS)
    loop.run()
    assert found == [MS, 2 * MS, 3 * MS]
