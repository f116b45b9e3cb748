"""The requests and frames under way on a connection, for the beginning of a capture's next segment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.proxy.connection.connection import Connection
from barnabas.proxy.connection.ingress import Mode
from barnabas.specs.frames import Direction

MOST: Final = 1000
"""The most requests that are listed."""

_SIZE: Final = 4
"""The bytes of a frame's size."""


def snapshot(connection: Connection, unwritten: Mapping[Direction, int]) -> dict[str, Any]:
    """Return `frames`, `waiting` and `user`, as `captures.tcp.mid_stream` reads them.

    `kept` counts the received bytes of each direction that are not written yet.
    """
    frames = {
        direction: _next(connection, direction, size) for direction, size in unwritten.items()
    }
    waiting = connection.state.pairing.waiting
    listed = [
        [pending.correlation_id, pending.key, pending.version]
        for pending, _ in zip(waiting, range(MOST), strict=False)
        if not pending.opaque
    ]
    return {
        "frames": {
            direction: position for direction, position in frames.items() if position is not None
        },
        "waiting": listed,
        "user": connection.state.user,
    }


def _next(connection: Connection, direction: Direction, unwritten: int) -> list[int] | None:
    """Return the number of the next frame to begin in the following bytes, and the bytes before it.

    None if the direction is no longer split into frames, or the next beginning is still unknown.
    """
    state = connection.state
    if state.deaf:
        return None
    ingress = state.ingress[direction]
    if ingress.between:
        return [ingress.frames, 0]
    counted = ingress.mode is not Mode.HEADER
    if unwritten:  # the retained bytes begin with a frame
        return [ingress.frames - counted, 0]
    if not counted and len(ingress.buffer) < _SIZE:
        return None
    return [ingress.frames - counted + 1, ingress.to_end]
