"""Reading one frame and no more, from a connection that is paused."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barnabas.proxy.connection.connection import Connection
    from barnabas.proxy.network.relay import Buffers
    from barnabas.specs.frames import Direction


class OneFrame:
    """Stands in for the read buffer that all connections share: room up to the end of a frame only.

    So what is behind the frame stays in the kernel, and nothing is added to the usual way.
    """

    def __init__(self, shared: Buffers, connection: Connection, direction: Direction) -> None:
        self._shared = shared
        self._connection = connection
        self._direction: Direction = direction
        inbound = connection.state.inbound[direction]
        counted = bool(inbound.passing or inbound.need)
        self._frames = inbound.frames + (not counted)

    @property
    def done(self) -> bool:
        """Whether the frame (if one was under way, its rest) has been read."""
        inbound = self._connection.state.inbound[self._direction]
        return inbound.between and inbound.frames >= self._frames

    @property
    def current(self) -> memoryview:
        """Where to read into."""
        return self._shared.current[: self._connection.missing(self._direction)]

    def keep(self) -> memoryview:
        """The present buffer is still referred to, see `barnabas.proxy.network.relay.Buffers`."""
        return self._shared.keep()

    def release(self, buffer: memoryview) -> None:
        """A buffer that was given away is free again."""
        self._shared.release(buffer)
