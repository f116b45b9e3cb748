"""One direction of a conversation: what came in order, what waits, and what its reader still needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from barnabas.captures.tcp.bytes_needed import BytesNeeded
from barnabas.captures.tcp.headers import Captured
from barnabas.specs.frames import Direction

MODULUS: Final = 1 << 32
OLD: Final = MODULUS - (1 << 30)
"""A number at most the largest window (1 GiB) behind is a repetition; any other is ahead."""
_PIECE: Final = 1 << 16
"""Bytes of short payloads that are gathered in one buffer."""
_FAR: Final = 1 << 28
"""An acknowledgement so far ahead of all that was seen means something else."""


def signed_distance(seq: int, other: int) -> int:
    """How far a sequence number is ahead of another; negative: behind it.

    >>> signed_distance(5, 2**32 - 5), signed_distance(2**32 - 5, 5)
    (10, -10)
    """
    distance = (seq - other) % MODULUS
    return distance - MODULUS if distance >= OLD else distance


class Data(NamedTuple):
    """Bytes in order; the comments are about the position behind the last of them."""

    flow: int
    direction: Direction
    ts_ns: int
    data: bytes
    comments: tuple[str, ...]
    packet: int = 0
    """Number of the packet that brought them."""


class Gap(NamedTuple):
    """So many bytes are missing before the next Data of this direction."""

    flow: int
    direction: Direction
    ts_ns: int
    size: int


class Early(NamedTuple):
    """A TCP segment that waits. Positions count the bytes of a direction, without wrapping around."""

    ahead: int
    """The position of its first byte."""
    needs: int
    """The position that its sender had received the other direction up to."""
    place: int
    """How many TCP segments of the conversation had come with it."""
    captured: Captured


class Half:
    """One direction of a conversation: what came in order ends at `position`."""

    def __init__(self, direction: Direction) -> None:
        self.direction: Direction = direction
        self.first: int | None = None
        """The sequence number at position 0."""
        self.position = 0
        self.acked = 0
        """The receiver has everything up to here."""
        self.early: list[Early] = []
        self.finished = False
        self.needed = BytesNeeded()
        self._gathered: list[bytearray | memoryview] = []
        """What came in order and is less than what its reader needs."""
        self._latest = 0, 0
        """Time and packet of the last of it."""

    def ahead(self, seq: int) -> int:
        """The position of a sequence number: before `position` if all up to it was seen."""
        if self.first is None:
            self.first = seq
        return self.position + signed_distance(seq, self.first + self.position)

    def gather(self, payload: memoryview, ts_ns: int, packet: int) -> bytes:
        """Take what comes in order. Returns all that was gathered, once it is what the reader needs."""
        size = len(payload)
        self.position += size
        needed, gathered = self.needed, self._gathered
        if size < needed.bytes:
            needed.bytes -= size
            # a few large buffers: one alone would be moved whenever it grows
            last = gathered[-1] if gathered else None
            if isinstance(last, bytearray) and len(last) + size <= _PIECE:
                last += payload
            else:
                gathered.append(bytearray(payload))
            self._latest = ts_ns, packet
            return b""
        needed.bytes = 0
        if not gathered:
            return bytes(payload)
        self._gathered = []
        return b"".join((*gathered, payload))

    def gather_many(
        self, payloads: Sequence[memoryview], size: int, ts_ns: int, packet: int
    ) -> None:
        """Take several that come in order and are less than what its reader needs, at once. They must stay as
        they are until they are used. size: bytes of them all; ts_ns, packet: of the last one."""
        self.position += size
        self.needed.bytes -= size
        self._gathered.extend(payloads)
        self._latest = ts_ns, packet

    def flush(self, flow: int) -> Iterator[Data]:
        """What was gathered, though its reader needs more."""
        if self._gathered:
            data, self._gathered = b"".join(self._gathered), []
            ts_ns, packet = self._latest
            yield Data(flow, self.direction, ts_ns, data, (), packet)

    def acknowledge(self, ack: int) -> int:
        """The receiver has all before this sequence number; returns its position."""
        needs = self.ahead(ack)
        if needs > self.position + _FAR:
            return 0
        self.acked = max(self.acked, needs)
        return needs
