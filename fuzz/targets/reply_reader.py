"""A reader of the responses in the bytes of a connection to a broker: sans-IO and bounded."""

from __future__ import annotations

import struct
from typing import Final

from barnabas.fuzz.cases.observation import KEPT_LIMIT, REPLY_LIMIT

_SIZE: Final = struct.Struct(">i")


class ReplyReader:
    """Splits received bytes into responses; `garbled` means that the stream is no longer Kafka's."""

    __slots__ = ("_buffer", "_kept", "_skip", "garbled", "replies")

    def __init__(self) -> None:
        self.replies: list[bytes] = []
        self.garbled = False
        """Whether a negative size was received."""
        self._buffer = bytearray()
        self._kept = 0
        self._skip = 0

    def begin(self) -> None:
        """Begin another case: drop the responses so far."""
        self.replies = []
        self._kept = 0

    @property
    def midway(self) -> bool:
        """Return whether part of a response was received."""
        return bool(self._buffer or self._skip)

    def receive(self, data: bytes) -> None:
        """Add received bytes."""
        if not self._buffer and not self._skip and len(data) >= 4:
            (size,) = _SIZE.unpack_from(data, 0)
            if size == len(data) - 4:  # the usual case: one whole response
                self._keep(data[4:])
                return
        self._buffer += data
        self._take()

    def _take(self) -> None:
        buffer = self._buffer
        at = 0
        while not self.garbled:
            if self._skip:
                step = min(self._skip, len(buffer) - at)
                at += step
                self._skip -= step
                if self._skip:
                    break
            if len(buffer) - at < 4:
                break
            (size,) = _SIZE.unpack_from(buffer, at)
            if size < 0:
                self.garbled = True
                break
            retained = min(size, REPLY_LIMIT)
            if len(buffer) - at - 4 < retained:
                break
            self._keep(bytes(buffer[at + 4 : at + 4 + retained]))
            at += 4 + retained
            self._skip = size - retained
        del buffer[:at]

    def _keep(self, reply: bytes) -> None:
        room = KEPT_LIMIT - self._kept
        self.replies.append(reply if len(reply) <= room else reply[:room])
        self._kept += min(len(reply), room)
