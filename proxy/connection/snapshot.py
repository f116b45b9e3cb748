"""What is under way on a connection, for the beginning of a capture's next segment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.proxy.connection.connection import Connection
from barnabas.proxy.connection.ingress import Mode
from barnabas.specs.frames import Direction

MOST: Final = 1000
"""Requests that are listed at most."""

_SIZE: Final = 4
"""Bytes of a frame's size."""


def snapshot(connection: Connection, kept: Mapping[Direction, int]) -> dict[str, Any]:
    """`frames`, `waiting` and `user`, as `captures.tcp.mid_stream` reads them. `kept`: bytes that came and
    are not written yet."""
    frames = {way: _next(connection, way, size) for way, size in kept.items()}
    waiting = connection.state.pairing.waiting
    listed = [
        [pending.correlation_id, pending.key, pending.version]
        for pending, _ in zip(waiting, range(MOST), strict=False)
        if not pending.opaque
    ]
    return {
        "frames": {way: place for way, place in frames.items() if place is not None},
        "waiting": listed,
        "user": connection.state.user,
    }


def _next(connection: Connection, direction: Direction, kept: int) -> list[int] | None:
    """[number of the next frame to begin in what is to be written, bytes in front of it]; None: nobody
    takes frames out of this direction any more, or its beginning is not known yet."""
    state = connection.state
    if state.deaf:
        return None
    ingress = state.ingress[direction]
    if ingress.between:
        return [ingress.frames, 0]
    counted = ingress.mode is not Mode.HEADER
    if kept:  # what is kept back begins with a frame
        return [ingress.frames - counted, 0]
    if not counted and len(ingress.buffer) < _SIZE:
        return None
    return [ingress.frames - counted + 1, ingress.to_end]
