"""Servers that run until a signal asks them to end."""

from __future__ import annotations

import asyncio

from barnabas.endings import endings


def until_signal() -> asyncio.Event:
    """Return an event that is set when a signal asks the running loop's program to end."""
    stop = asyncio.Event()
    for number in endings():
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop
