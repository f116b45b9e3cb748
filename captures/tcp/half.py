"""Track one direction of a conversation: bytes in order, early segments, and bytes that the reader needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from barnabas.captures.tcp.bytes_needed import BytesNeeded
from barnabas.captures.tcp.headers import Captured
from barnabas.specs.frames import Direction

MODULUS: Final = 1 << 32
OLD: Final = MODULUS - (1 << 30)
"""A number up to 1 GiB (the largest window) back is a retransmission; any other number is ahead."""
_PIECE: Final = 1 << 16
"""Bytes of short payloads that are gathered in one buffer."""
_FAR: Final = 1 << 28
"""An ACK number further ahead than this of all captured bytes is not trusted."""


def signed_distance(seq: int, other: int) -> int:
    """Return how far a sequence number is ahead of another; negative if it is before the other.

    >>> signed_distance(5, 2**32 - 5), signed_distance(2**32 - 5, 5)
    (10, -10)
    """
    distance = (seq - other) % MODULUS
    return distance - MODULUS if distance >= OLD else distance


class Data(NamedTuple):
    """Bytes in order; the comments belong to the end of the bytes."""

    flow: int
    direction: Direction
    ts_ns: int
    data: bytes
    comments: tuple[str, ...]
    packet: int = 0
    """Number of the packet with the last byte."""


class Gap(NamedTuple):
    """Missing bytes before the next Data of this direction."""

    flow: int
    direction: Direction
    ts_ns: int
    size: int


class Early(NamedTuple):
    """A TCP segment that waits. Positions count the bytes of a direction and do not wrap around."""

    ahead: int
    """The position of its first byte."""
    needs: int
    """The position up to which its sender had received the other direction."""
    arrival: int
    """TCP segments of the conversation up to and including this one."""
    captured: Captured


class Half:
    """One direction of a conversation; `position` is the end of the bytes in order."""

    def __init__(self, direction: Direction) -> None:
        self.direction: Direction = direction
        self.first: int | None = None
        """The sequence number at position 0."""
        self.position = 0
        self.acked = 0
        """The position up to which the receiver has acknowledged."""
        self.early: list[Early] = []
        self.finished = False
        self.needed = BytesNeeded()
        self._gathered: list[bytearray | memoryview] = []
        """Bytes in order, fewer than the reader needs."""
        self._latest = 0, 0
        """Time and packet number of the last gathered bytes."""

    def ahead(self, seq: int) -> int:
        """Return the position of a sequence number; less than `position` if the byte was delivered."""
        if self.first is None:
            self.first = seq
        return self.position + signed_distance(seq, self.first + self.position)

    def gather(self, payload: memoryview, ts_ns: int, packet: int) -> bytes:
        """Add payload that is in order; return all gathered bytes once the reader has what it needs."""
        size = len(payload)
        self.position += size
        needed, gathered = self.needed, self._gathered
        if size < needed.bytes:
            needed.bytes -= size
            # several large buffers: a single one would be copied whenever it grows
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
        """Add several payloads in order that are, together, fewer bytes than the reader needs.

        The payloads must stay unchanged until the gathered bytes are read.

        Args:
            payloads: The payloads, in order.
            size: Bytes of all payloads.
            ts_ns: Time of the last payload.
            packet: Packet number of the last payload.
        """
        self.position += size
        self.needed.bytes -= size
        self._gathered.extend(payloads)
        self._latest = ts_ns, packet

    def flush(self, flow: int) -> Iterator[Data]:
        """Yield the gathered bytes, even if the reader needs more."""
        if self._gathered:
            data, self._gathered = b"".join(self._gathered), []
            ts_ns, packet = self._latest
            yield Data(flow, self.direction, ts_ns, data, (), packet)

    def acknowledge(self, ack: int) -> int:
        """Note an ACK number of the receiver, and return its position; 0 if it can't be right."""
        needs = self.ahead(ack)
        if needs > self.position + _FAR:
            return 0
        self.acked = max(self.acked, needs)
        return needs
