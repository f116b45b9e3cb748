"""Buffers that chunks are read into: one for all connections, or room for one frame while paused."""

from __future__ import annotations

from typing import Final

from barnabas.captures.writing.flow_headers import SEGMENT
from barnabas.proxy.connection.ingress import Ingress

BUFFER: Final = 2 * SEGMENT
"""Bytes read at once: few enough that they stay in a core's cache on their way through the kernel,
here and back; and just two packets of a capture."""

TLS_BUFFER: Final = 1 << 18
"""The same with TLS, where the loop reads so much and decrypts it record by record (16 KiB): the records
leave as full as they came, and none is cut in two."""


class ReadBuffers:
    """The read buffer that all connections share, and spare ones for when it is still in use."""

    def __init__(self, size: int = BUFFER) -> None:
        self._size = size
        self.current = memoryview(bytearray(size))
        self._spare: list[memoryview] = []

    def keep(self) -> memoryview:
        """The present buffer is still referred to: give it away and go on with another."""
        kept = self.current
        self.current = self._spare.pop() if self._spare else memoryview(bytearray(self._size))
        return kept

    def release(self, buffer: memoryview) -> None:
        """A buffer that was given away is free again."""
        if len(self._spare) < 16:
            self._spare.append(buffer)


class OneFrame:
    """Stands in for the read buffer that all connections share: room up to the end of a frame only.

    So what is behind the frame stays in the kernel, and nothing is added to the usual way.
    """

    def __init__(self, shared: ReadBuffers, ingress: Ingress) -> None:
        self._shared = shared
        self._ingress = ingress
        self._frames = ingress.frames + (not ingress.missing)

    @property
    def done(self) -> bool:
        """Whether the frame (if one was under way, its rest) has been read."""
        return self._ingress.between and self._ingress.frames >= self._frames

    @property
    def current(self) -> memoryview:
        """Where to read into."""
        return self._shared.current[: self._ingress.to_end]

    def keep(self) -> memoryview:
        """The present buffer is still referred to, see `ReadBuffers`."""
        return self._shared.keep()

    def release(self, buffer: memoryview) -> None:
        """A buffer that was given away is free again."""
        self._shared.release(buffer)
