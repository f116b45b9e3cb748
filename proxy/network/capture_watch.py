"""Reports to the person what happens to the capture that the proxy writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from barnabas.proxy.network.clock import clock

if TYPE_CHECKING:
    from barnabas.captures.live.capture_ring import CapturePump
    from barnabas.captures.writing.writer import CaptureWriter

_LOOK: Final = 0.5
"""Seconds between two looks."""


def watch(
    capture: CaptureWriter | CapturePump,
    loop: asyncio.AbstractEventLoop,
    say: Callable[[str], None],
    reported: str = "",
) -> None:
    """Report closed segments, and once that the capture has stopped or loses packets."""
    say_closed(capture, say)
    stats = capture.stats
    problem = ""
    if stats.stopped:
        problem = f"capture: stopped, {stats.stopped}; traffic continues, lost packets are counted"
    elif stats.lost_packets:
        problem = "capture: the disk is too slow, packets are lost and counted"
    if problem and not reported:
        say(problem)
    loop.call_later(_LOOK, watch, capture, loop, say, reported or problem)


def say_closed(capture: CaptureWriter | CapturePump, say: Callable[[str], None]) -> None:
    """Report the segments that were closed since the last look."""
    for path in capture.look(clock()):
        say(f"capture: {path} is closed")
