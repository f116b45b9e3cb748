"""Fills a history from a live stream, which other processes write."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from barnabas.captures.kafka.context.id_names import names_by_id
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.live.reader import LiveReader, Note, RingFile
from barnabas.captures.live.ring import Ring
from barnabas.proxy.control.history import History

BATCH: Final = 256
"""The most exchanges that are handed to the loop together."""

SOON: Final = 1.0
"""The most seconds that a request waits for the exchanges that have passed."""

WAITING: Final = 8
"""The most batches that wait for the loop: beyond that the ring fills, and what has no room there is lost."""

LOOK: Final = 0.002
"""Seconds between two looks."""


class LiveHistory:
    """Reads a ring in a thread until it is closed, and hands exchanges to the loop that made it.

    `show` is called with each exchange, in the loop.
    """

    def __init__(self, ring: Ring, history: History, show: Callable[[Exchange], None]) -> None:
        self._ring = ring
        self._history = history
        self._shown = show
        self._loop = asyncio.get_running_loop()
        self._read: list[Exchange] = []
        self._room = threading.Semaphore(WAITING)
        self._closing = False
        self._added = 0
        """The position in the ring up to which the history has all exchanges."""
        history.fresh = self._fresh
        self._reader = LiveReader(RingFile(ring, self._all_read), self._note)
        history.under_way = lambda: self._reader.under_way()
        self._thread = threading.Thread(target=self._run, name="control stream", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Read the rest of the ring, after its last writer has ended. Call it in the loop."""
        self._closing = True
        self._ring.close()
        self._thread.join()
        self._add(self._read, self._ring.read)

    def _run(self) -> None:
        for exchange in self._reader:
            self._read.append(replace(exchange))  # with bodies of its own
            if len(self._read) >= BATCH:
                self._hand(self._added)

    def _all_read(self) -> None:
        if (position := self._ring.read) > self._added:
            self._hand(position)

    def _hand(self, position: int) -> None:
        while not (self._closing or self._room.acquire(timeout=LOOK)):
            pass
        self._loop.call_soon_threadsafe(self._take, self._read, position)
        self._read = []

    async def _fresh(self) -> None:
        """Wait until the history has the present content of the ring, and not for long."""
        position, until = self._ring.written, self._loop.time() + SOON
        while self._added < position and self._loop.time() < until:  # noqa: ASYNC110 - seldom
            await asyncio.sleep(LOOK)

    def _take(self, exchanges: list[Exchange], position: int) -> None:
        self._add(exchanges, position)
        self._room.release()

    def _add(self, exchanges: list[Exchange], position: int) -> None:
        self._added = position
        for exchange in exchanges:
            self._history.add(exchange)
            self._shown(exchange)

    def _note(self, note: Note) -> None:
        match note:
            case {"barnabas": "topics", "names": names}:
                self._loop.call_soon_threadsafe(
                    self._history.context.topics.update, names_by_id(names)
                )
