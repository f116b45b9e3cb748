"""Names of topics by id: one map for rules and log, kept from the start of what passes.

Messages that have both are few (Metadata, and what administrators ask), but large: they are kept as
they came and read when a name is first looked for, so that a proxy without rules and log never does.
"""

from __future__ import annotations

import functools
import threading
import uuid
from collections import deque
from typing import Final

from barnabas.captures.kafka.context.id_names import TOPIC, ids_with_names_in, places
from barnabas.captures.kafka.context.memory import MOST, Memory

UNREAD: Final = 8 << 20
"""Bytes of messages that wait to be read; the oldest is given up for the newest, and counted."""

UNREAD_MESSAGES: Final = 64
"""So many of them wait at most."""


@functools.lru_cache(4096)
def teaches(key: int, version: int) -> bool:
    """Whether such responses have ids of topics and their names side by side.

    >>> teaches(3, 12), teaches(3, 9), teaches(1, 13)
    (True, False, False)
    """
    return any(place.name for place in places(key, version, "response", TOPIC))


class TopicNames(Memory[uuid.UUID, str]):
    """The names, and what may have more of them. The log looks them up from a thread of its own."""

    def __init__(self, most: int = MOST) -> None:
        super().__init__(most)
        self.given_up = 0
        """Messages that were given up before anybody had read them."""
        self._lock = threading.RLock()
        self._unread: deque[tuple[int, int, bytes]] = deque()
        self._bytes = 0

    def add_response(self, key: int, version: int, body: bytes) -> None:
        """A response has come that `teaches`: it is read when somebody looks for a name."""
        with self._lock:
            response = key, version, body
            if response in self._unread:  # as from one client after the other
                return
            self._unread.append(response)
            self._bytes += len(body)
            while len(self._unread) > UNREAD_MESSAGES or (
                self._bytes > UNREAD and len(self._unread) > 1
            ):
                self._bytes -= len(self._unread.popleft()[2])
                self.given_up += 1

    def __getitem__(self, key: uuid.UUID) -> str:
        with self._lock:
            while self._unread:
                api_key, version, body = self._unread.popleft()
                self._bytes -= len(body)
                for topic, name in ids_with_names_in(api_key, version, "response", body, TOPIC):
                    super().__setitem__(topic, name)
            return super().__getitem__(key)

    def __setitem__(self, key: uuid.UUID, value: str) -> None:
        with self._lock:
            super().__setitem__(key, value)

    def __delitem__(self, key: uuid.UUID) -> None:
        with self._lock:
            super().__delitem__(key)
