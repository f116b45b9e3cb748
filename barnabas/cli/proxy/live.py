"""The live log: exchanges are printed by a thread of their own, so that no terminal slows traffic.

What the thread can't keep up with is lost, counted and shown at the end.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Final

from barnabas.captures.kafka.exchange import Exchange
from barnabas.plural import plural

BACKLOG: Final = 10_000
"""Exchanges that may wait to be printed ..."""

BACKLOG_BYTES: Final = 64 << 20
"""... and bytes of their frames."""


class Live:
    """Hands exchanges and lines for the person to `show` and `say`, in order, in a thread."""

    def __init__(self, show: Callable[[Exchange], None], say: Callable[[str], None]) -> None:
        self._slow = self._refused = self._unwritten = 0  # exchanges; the last one in the thread
        self._show = show
        self._say = say
        self._queue: queue.Queue[Exchange | str | threading.Event | None] = queue.Queue()
        self._broken = ""
        """Why no exchange can be printed any more."""
        self._added = self._taken = 0  # each written by one thread only
        self._unsaid = self._owned_up = 0  # lines that were not printed, and those it told of
        self._thread = threading.Thread(target=self._work, name="live log", daemon=True)
        self._thread.start()

    def exchange(self, exchange: Exchange) -> None:
        """Print an exchange soon, or lose it if too many wait."""
        full = self._queue.qsize() >= BACKLOG or self._added - self._taken > BACKLOG_BYTES
        if self._broken:
            self._refused += 1
        elif full:
            self._slow += 1
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
        self._slow += self._queue.qsize() if self._thread.is_alive() else 0

    @property
    def lost(self) -> int:
        """Exchanges that were not printed."""
        return self._slow + self._refused + self._unwritten

    @property
    def losses(self) -> list[str]:
        """How many they are, and why, in words."""
        why = {"the terminal was too slow": self._slow, self._broken: self.lost - self._slow}
        return [
            f"{plural(count, 'exchange')} not printed: {what}"
            for what, count in why.items()
            if count
        ]

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                if isinstance(item, threading.Event):
                    item.set()
                elif isinstance(item, str):
                    self._say(item)
                    if self._unsaid > self._owned_up:
                        more, self._owned_up = self._unsaid - self._owned_up, self._unsaid
                        self._say(f"{plural(more, 'line')} not printed: the terminal was too slow")
                else:
                    self._taken += _size(item)
                    if self._broken:
                        self._unwritten += 1
                    else:
                        self._show(item)
            except OSError as problem:  # its reader is gone, or the disk is full; traffic goes on
                if isinstance(item, Exchange):
                    self._unwritten += 1
                    self._broken = f"stdout: {problem.strerror}"
                    self._queue.put(f"{self._broken}; exchanges are not printed any more")


def _size(exchange: Exchange) -> int:
    """Bytes that an exchange keeps in memory, nearly."""
    return 1000 + exchange.weight
