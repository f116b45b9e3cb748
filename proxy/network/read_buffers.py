"""The buffers that chunks are read into: one for all connections, or room for one frame while paused."""

from __future__ import annotations

from typing import Final

from barnabas.captures.writing.flow_headers import SEGMENT
from barnabas.proxy.connection.ingress import Ingress

BUFFER: Final = 2 * SEGMENT
"""Bytes to read at once: few enough to stay in a core's cache on their way through the kernel and back,
and exactly two packets of a capture."""

TLS_BUFFER: Final = 1 << 18
"""Bytes to read at once with TLS. The loop decrypts them record by record (16 KiB), so that records leave
as full as they came and none is cut in two."""


class ReadBuffers:
    """The read buffer that all connections share, and spare ones for when it is still in use."""

    def __init__(self, size: int = BUFFER) -> None:
        self._size = size
        self.current = memoryview(bytearray(size))
        self._spare: list[memoryview] = []

    def keep(self) -> memoryview:
        """Give away the present buffer, which is still referred to, and use another one."""
        buffer = self.current
        self.current = self._spare.pop() if self._spare else memoryview(bytearray(self._size))
        return buffer

    def release(self, buffer: memoryview) -> None:
        """Take back a buffer that was given away."""
        if len(self._spare) < 16:
            self._spare.append(buffer)


class OneFrame:
    """A stand-in for the shared read buffer with room up to the end of one frame only.

    Bytes after the frame stay in the kernel, and the hot path has no extra code.
    """

    def __init__(self, shared: ReadBuffers, ingress: Ingress) -> None:
        self._shared = shared
        self._ingress = ingress
        self._frames = ingress.frames + (not ingress.missing)

    @property
    def done(self) -> bool:
        """Return whether the frame, or the rest of the one under way, has been read."""
        return self._ingress.between and self._ingress.frames >= self._frames

    @property
    def current(self) -> memoryview:
        """Return the buffer to read into."""
        return self._shared.current[: self._ingress.to_end]

    def keep(self) -> memoryview:
        """Give away the present buffer, see `ReadBuffers`."""
        return self._shared.keep()

    def release(self, buffer: memoryview) -> None:
        """Take back a buffer that was given away."""
        self._shared.release(buffer)
