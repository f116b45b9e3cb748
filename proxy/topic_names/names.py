"""Names of topics by id: one map for rules and log, from the start of the traffic.

Responses with both id and name are rare (Metadata, and what administrators request), but large. They are
stored undecoded and read when a name is first looked up, so that a proxy without rules and log never reads
them.
"""

from __future__ import annotations

import functools
import threading
import uuid
from collections import deque
from typing import Final

from barnabas.captures.kafka.context.id_names import TOPIC, id_fields, ids_with_names_in
from barnabas.captures.kafka.context.memory import MOST, Memory

UNREAD: Final = 8 << 20
"""The most bytes of unread responses; beyond that the oldest is dropped and counted."""

UNREAD_MESSAGES: Final = 64
"""The most unread responses."""


@functools.lru_cache(4096)
def teaches(key: int, version: int) -> bool:
    """Return whether such responses have topic ids together with names.

    >>> teaches(3, 12), teaches(3, 9), teaches(1, 13)
    (True, False, False)
    """
    return any(id_field.name for id_field in id_fields(key, version, "response", TOPIC))


class TopicNames(Memory[uuid.UUID, str]):
    """The names of topics by id, and the unread responses that may contain more.

    The log looks names up from its own thread.
    """

    def __init__(self, most: int = MOST) -> None:
        super().__init__(most)
        self.given_up = 0
        """The number of responses that were dropped unread."""
        self._lock = threading.RLock()
        self._unread: deque[tuple[int, int, bytes]] = deque()
        self._bytes = 0

    def add_response(self, key: int, version: int, body: bytes) -> None:
        """Store a response that has ids and names; it is read when a name is looked up."""
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
