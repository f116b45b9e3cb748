"""Non-blocking writes: what a connection does not take now is kept.

All raise OSError where the connection has ended.
"""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.targets.connections import Lane

BYTEWISE: Final = 128
"""Bytes that are written one by one; what follows goes in one piece."""

_STEP: Final = 1 << 20


def begin(lane: Lane, data: bytes) -> bool:
    """Write; whether all of it is written."""
    try:
        done = lane.socket.send(data)
        lane.connected = True
    except BlockingIOError:
        done = 0
    if done < len(data):
        lane.unwritten = memoryview(data)[done:]
    return done == len(data)


def more(lane: Lane) -> bool:
    """Write of what was left over; whether any of it went out."""
    assert lane.unwritten is not None  # noqa: S101
    try:
        done = lane.socket.send(lane.unwritten[:_STEP])
    except BlockingIOError:
        return False
    lane.unwritten = lane.unwritten[done:] if done < len(lane.unwritten) else None
    return True


def bytewise(lane: Lane, data: bytes) -> bytes:
    """Write the first bytes one by one; returns what is still to be written. A connection that is not yet
    made takes all in one piece."""
    at = 0
    try:
        while at < min(BYTEWISE, len(data)):
            at += lane.socket.send(data[at : at + 1])
    except BlockingIOError:
        pass
    return data[at:]
