"""Tells the person what becomes of the capture that the proxy writes."""

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
    said: str = "",
) -> None:
    """Say which segments were closed, and once if it has stopped or loses packets."""
    say_closed(capture, say)
    stats = capture.stats
    trouble = ""
    if stats.stopped:
        trouble = f"capture: stopped, {stats.stopped}; traffic goes on, what is lost is counted"
    elif stats.lost_packets:
        trouble = "capture: the disk is too slow, packets are lost and counted"
    if trouble and not said:
        say(trouble)
    loop.call_later(_LOOK, watch, capture, loop, say, said or trouble)


def say_closed(capture: CaptureWriter | CapturePump, say: Callable[[str], None]) -> None:
    """Say which segments were closed since the last look."""
    for path in capture.look(clock()):
        say(f"capture: {path} is closed")
