"""Connections that do not speak Kafka: told by their first bytes, and passed as they are."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.framing.protocol_detection import begins_with_request
from barnabas.captures.kafka.framing.stream_framing import FRAME_LIMIT
from barnabas.proxy.connection.state import State
from barnabas.specs.registry import NAMES

START: Final = 14
"""Bytes by which it is told: a size, and a header with a client id's length."""


def begins(first: bytes) -> bool:
    """Whether a client's first bytes begin a request of Kafka. Of a first chunk that is shorter the size, and
    the key if it is there, must do; of one without a whole size nothing can be told.

    >>> begins(bytes.fromhex("00000017 0012 0003 00000001 0003")), begins(b"*1\\r\\n$4\\r\\nPING\\r\\n")
    (True, False)
    >>> begins(bytes.fromhex("00000017")), begins(bytes.fromhex("050100"))
    (True, False)
    """
    if len(first) >= START:
        return begins_with_request(first)
    known = len(first) < 6 or int.from_bytes(first[4:6]) in NAMES
    return len(first) >= 4 and 8 <= int.from_bytes(first[:4], signed=True) <= FRAME_LIMIT and known


def pass_all(state: State, data: memoryview, now: int) -> int:
    """All of a chunk passes."""
    return len(data)
