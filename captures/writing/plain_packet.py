"""Make packets of one direction that carry a chunk without comments: nearly all packets of a capture.

A template is reused while chunks have the same size: only times and numbers are filled in.
"""

from __future__ import annotations

import struct
from typing import Final

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.writing.flow_headers import Half
from barnabas.captures.writing.pcapng import PACKET_HEAD, PACKET_TIME, packet

_TIMES: Final = struct.Struct("<II").pack_into
_NUMBERS: Final = struct.Struct(">II").pack_into
_MASK: Final = 0xFFFFFFFF


class PlainPacket:
    """A reusable packet; each result is valid until the next call."""

    __slots__ = ("_half", "_head", "_numbers_at", "_size", "_tail")

    def __init__(self, half: Half) -> None:
        self._half = half
        self._numbers_at = PACKET_HEAD + half.numbers_at
        self._size = -1
        self._head = bytearray()
        self._tail: Buffer = b""

    def of(self, ts_ns: int, data: Buffer) -> tuple[Buffer, ...]:
        """Return the same buffers as `packet(ts_ns, half.header(len(data)), data)`."""
        size = len(data)
        if size != self._size:
            head, _, self._tail = packet(ts_ns, self._half.header(size), data)
            self._head, self._size = bytearray(head), size
        else:
            head = self._head
            _TIMES(head, PACKET_TIME, ts_ns >> 32, ts_ns & _MASK)
            _NUMBERS(head, self._numbers_at, *self._half.numbers(size))
        return self._head, data, self._tail
