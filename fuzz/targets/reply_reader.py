"""The replies in what comes in on a connection to a broker, without its socket, and within bounds."""

from __future__ import annotations

import struct
from typing import Final

from barnabas.fuzz.cases.observation import KEPT_LIMIT, REPLY_LIMIT

_SIZE: Final = struct.Struct(">i")


class ReplyReader:
    """Replies out of what comes in. `over` is why there can be no more: the stream is no longer Kafka's."""

    __slots__ = ("_buffer", "_kept", "_skip", "came", "garbled", "replies")

    def __init__(self) -> None:
        self.replies: list[bytes] = []
        self.came = 0
        """Bytes that came in, also those that were let go."""
        self.garbled = False
        """A size came that no response has."""
        self._buffer = bytearray()
        self._kept = 0
        self._skip = 0

    def begin(self) -> None:
        """Another case: what came before is no longer of interest."""
        self.replies = []
        self._kept = 0
        self.came = 0

    @property
    def midway(self) -> bool:
        """Whether part of a reply has come."""
        return bool(self._buffer or self._skip)

    def receive(self, data: bytes) -> None:
        """Take what came."""
        self.came += len(data)
        if not self._buffer and not self._skip and len(data) >= 4:
            (size,) = _SIZE.unpack_from(data, 0)
            if size == len(data) - 4:  # one whole reply: the usual
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
            kept = min(size, REPLY_LIMIT)
            if len(buffer) - at - 4 < kept:
                break
            self._keep(bytes(buffer[at + 4 : at + 4 + kept]))
            at += 4 + kept
            self._skip = size - kept
        del buffer[:at]

    def _keep(self, reply: bytes) -> None:
        room = KEPT_LIMIT - self._kept
        self.replies.append(reply if len(reply) <= room else reply[:room])
        self._kept += min(len(reply), room)
