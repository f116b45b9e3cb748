"""The stream from a process that carries traffic to the log's reader: exchanges, and notes for the user."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from barnabas.captures.live.ring import Ring
from barnabas.captures.live.sink import RingSink
from barnabas.captures.live.writer import RingWriter
from barnabas.captures.writing.flow_writer import Comment
from barnabas.captures.writing.writer import head
from barnabas.proxy.network.clock import clock

CAUGHT_UP: Final = 0.005
"""Seconds between two checks whether paused traffic can go on."""


class LogStream:
    """The log's stream as one process writes it.

    Args:
        ring: The ring.
        meta: The metadata of a capture.
        waits: Whether the traffic waits for a reader that lags behind; else the reader misses what does not
            fit into the ring.
    """

    def __init__(self, ring: Ring, meta: Comment, waits: bool = False) -> None:
        self.ring = ring
        self.meta = meta
        self.waits = waits
        self.sink = RingSink(ring, lambda: head(meta), self._low if waits else lambda: None)
        self.writer = RingWriter(self.sink)
        self._waiting = False
        self._wait: Callable[[bool], None] = lambda _: None

    def attach(self, wait: Callable[[bool], None]) -> None:
        """Set the function that pauses the traffic, `Proxy.wait`."""
        self._wait = wait

    def line(self, text: str) -> None:
        """Print a note for the user soon, or count it as missing if the ring is full."""
        with self.ring.lock:
            self.ring.count_line()
        self.writer.note(clock(), {"barnabas": "say", "text": text})

    def _low(self) -> None:
        """Pause the traffic when the ring is nearly full; each connection stops after its current chunk."""
        if not self._waiting:
            self._waiting = True
            self._wait(True)
            asyncio.get_running_loop().call_later(CAUGHT_UP, self._caught_up)

    def _caught_up(self) -> None:
        self._waiting = self.ring.free < self.ring.size >> 1
        if self._waiting:
            asyncio.get_running_loop().call_later(CAUGHT_UP, self._caught_up)
        else:
            self._wait(False)
