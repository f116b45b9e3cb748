"""Write the blocks of a capture into a ring; after a loss, blocks are lost until half of the ring is free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.live.ring import Ring
from barnabas.captures.writing.block_sink import Stats

_JOINED: Final = 8192
"""Payload bytes up to which one more copy costs less than several buffers."""


class RingSink:
    """A `BlockSink` into a ring. After a loss another segment begins, in which each flow is introduced again.

    Args:
        ring: The ring.
        head: Makes the beginning of a segment.
        low: Called with each block while less than a quarter of the ring is free.
    """

    def __init__(
        self, ring: Ring, head: Callable[[], bytes], low: Callable[[], None] = lambda: None
    ) -> None:
        self.ring = ring
        self.stats = Stats()
        self._head = head
        self._low = low
        self._introduced = 0
        """The segment in which the writer of the next block has introduced its flow, or is about to."""
        if not ring.segment:
            self.begin()

    @property
    def segment(self) -> int:
        """Return the current segment, and remember it: the next block is for that segment."""
        self._introduced = segment = self.ring.segment
        return segment

    @property
    def losing(self) -> bool:
        """Return whether the stream is paused, or half of the ring is not free yet after a loss."""
        ring = self.ring
        return ring.idle or (ring.skipping and ring.free < ring.size >> 1)

    def begin(self) -> None:
        """Begin another segment, when there is room, for a reader that knows no flows."""
        head = self._head()
        with self.ring.lock:
            if len(head) <= self.ring.free:
                self.ring.begin(head)
            else:
                self.ring.skip()

    def begin_again(self) -> None:
        """Begin another segment in an empty ring, after the previous reader has gone."""
        with self.ring.lock:
            self.ring.forget()
            self.ring.begin(self._head())

    def rest(self, rest: bool) -> None:
        """Pause the stream, or continue it with another segment."""
        if not rest:
            self.begin()
        self.ring.idle = rest

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks; the buffers may be reused on return. False: they are lost."""
        ring = self.ring
        if payload <= _JOINED:
            buffers = (b"".join(buffers),)
        size = sum(map(len, buffers))
        with ring.lock:
            room = ring.room
            if room - size < ring.size >> 2:
                self._low()
            if size <= room and (self._introduced == ring.segment or not packets):
                ring.append(buffers, size)
                self.stats.packets += packets
                self.stats.bytes += size
                return True
            if size > room >= 0:
                ring.skip()
            elif room < 0 and not self.losing:
                ring.begin(self._head())
        # also a flow that was not introduced in the segment that has just begun
        return self.lose(packets, payload)

    def lose(self, packets: int, payload: int) -> bool:
        """Count packets that are not written, unless the stream is paused. Always False."""
        if not self.ring.idle:
            self.stats.lost_packets += packets
            self.stats.lost_bytes += payload
        return False

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Do nothing, since the creator of the ring closes it."""
