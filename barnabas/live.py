"""The live log: exchanges are printed by a thread of their own, so that no terminal slows traffic.

What the thread can't keep up with is lost, counted and shown at the end.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Final

from captures.exchange import Exchange

BACKLOG: Final = 10_000
"""Exchanges that may wait to be printed ..."""

BACKLOG_BYTES: Final = 64 << 20
"""... and bytes of their frames."""


class Live:
    """Hands exchanges and lines for the person to `show` and `say`, in order, in a thread."""

    def __init__(self, show: Callable[[Exchange], None], say: Callable[[str], None]) -> None:
        self.lost = 0
        self._show = show
        self._say = say
        self._queue: queue.Queue[Exchange | str | threading.Event | None] = queue.Queue()
        self._broken = False
        self._added = self._taken = 0  # each written by one thread only
        self._unsaid = self._owned_up = 0  # lines that were not printed, and those it told of
        self._thread = threading.Thread(target=self._work, name="live log", daemon=True)
        self._thread.start()

    def exchange(self, exchange: Exchange) -> None:
        """Print an exchange soon, or lose it if too many wait."""
        full = self._queue.qsize() >= BACKLOG or self._added - self._taken > BACKLOG_BYTES
        if full or self._broken:
            self.lost += 1
        else:
            self._added += _size(exchange)
            self._queue.put(exchange)

    def line(self, text: str) -> None:
        """Print a line for the person soon; where too many wait, their number is printed later."""
        if self._queue.qsize() >= 2 * BACKLOG:  # exchanges leave half of it
            self._unsaid += 1
        else:
            self._queue.put(text)

    def flush(self, timeout: float = 2.0) -> None:
        """Wait until all that was handed over before is printed."""
        reached = threading.Event()
        self._queue.put(reached)
        reached.wait(timeout)

    def close(self, timeout: float = 2.0) -> None:
        """Print what still waits, within some seconds."""
        self._queue.put(None)
        self._thread.join(timeout)
        self.lost += self._queue.qsize() if self._thread.is_alive() else 0

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                if isinstance(item, threading.Event):
                    item.set()
                elif isinstance(item, str):
                    self._say(item)
                    if self._unsaid > self._owned_up:
                        more, self._owned_up = self._unsaid - self._owned_up, self._unsaid
                        self._say(f"{more} lines not printed: the terminal was too slow")
                else:
                    self._taken += _size(item)
                    if not self._broken:
                        self._show(item)
            except OSError:  # the reader of our output is gone; traffic goes on
                self._broken = True


def _size(exchange: Exchange) -> int:
    """Bytes that an exchange keeps in memory, nearly."""
    return 1000 + len(exchange.request_body or b"") + len(exchange.response_body or b"")
