"""Fills a history from a live stream, which other processes write."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from barnabas.captures.kafka.context.id_names import names_by_id
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.live.reading import LiveReader, Note, RingFile
from barnabas.captures.live.ring import Ring
from barnabas.proxy.control.history import History

BATCH: Final = 256
"""Exchanges that are handed to the loop together at most."""

SOON: Final = 1.0
"""Seconds that somebody who asks waits for what has passed by then."""

WAITING: Final = 8
"""Batches that wait for the loop at most: then the ring fills, and what has no room there is lost."""

LOOK: Final = 0.002
"""Seconds between two looks whether it is there."""


class LiveHistory:
    """Reads a ring in a thread until it is closed, and hands what it has to the loop that makes this.

    shown: told of each exchange, in the loop.
    """

    def __init__(self, ring: Ring, history: History, shown: Callable[[Exchange], None]) -> None:
        self._ring = ring
        self._history = history
        self._shown = shown
        self._loop = asyncio.get_running_loop()
        self._read: list[Exchange] = []
        self._room = threading.Semaphore(WAITING)
        self._closing = False
        self._added = 0
        """The position in the ring up to which the history has all."""
        history.fresh = self._fresh
        self._reader = LiveReader(RingFile(ring, self._all_read), self._note)
        history.under_way = lambda: self._reader.under_way()
        self._thread = threading.Thread(target=self._run, name="control stream", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Read what is there, when nobody writes any more. From the loop, which then has it all."""
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
        if (place := self._ring.read) > self._added:
            self._hand(place)

    def _hand(self, place: int) -> None:
        while not (self._closing or self._room.acquire(timeout=LOOK)):
            pass
        self._loop.call_soon_threadsafe(self._take, self._read, place)
        self._read = []

    async def _fresh(self) -> None:
        """Until the history has what was in the ring when this was called, and not for long."""
        place, until = self._ring.written, self._loop.time() + SOON
        while self._added < place and self._loop.time() < until:  # noqa: ASYNC110 - seldom
            await asyncio.sleep(LOOK)

    def _take(self, exchanges: list[Exchange], place: int) -> None:
        self._add(exchanges, place)
        self._room.release()

    def _add(self, exchanges: list[Exchange], place: int) -> None:
        self._added = place
        for exchange in exchanges:
            self._history.add(exchange)
            self._shown(exchange)

    def _note(self, note: Note) -> None:
        match note:
            case {"barnabas": "topics", "names": names}:
                self._loop.call_soon_threadsafe(
                    self._history.context.topics.update, names_by_id(names)
                )
