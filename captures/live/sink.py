"""Writes the blocks of a capture into a ring. What does not fit is lost, until half of the ring is free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.live.ring import Ring
from barnabas.captures.writing.block_sink import Stats

_JOINED: Final = 8192
"""Bytes of payload up to which one copy more costs less than several buffers."""


class RingSink:
    """A `BlockSink`. Where something was lost another segment begins, in which each flow is introduced again.

    head: what a segment begins with. low: called with each block while less than a quarter is free.
    """

    def __init__(
        self, ring: Ring, head: Callable[[], bytes], low: Callable[[], None] = lambda: None
    ) -> None:
        self.ring = ring
        self.stats = Stats()
        self._head = head
        self._low = low
        self._seen = 0
        """The segment that the writer of the next block has introduced itself in, or is about to."""
        if not ring.segment:
            self.begin()

    @property
    def segment(self) -> int:
        """Which segment is being written; who asks, writes its next block for that one."""
        self._seen = found = self.ring.segment
        return found

    @property
    def losing(self) -> bool:
        """Whether nobody wants what would be written, or something was lost and half is not free yet."""
        ring = self.ring
        return ring.idle or (ring.skipping and ring.free < ring.size >> 1)

    def begin(self) -> None:
        """Begin another segment, when there is room: for a reader that knows nothing yet."""
        head = self._head()
        with self.ring.lock:
            if len(head) <= self.ring.free:
                self.ring.begin(head)
            else:
                self.ring.skip()

    def begin_again(self) -> None:
        """Begin another segment in an empty ring: the reader that was there is gone."""
        with self.ring.lock:
            self.ring.forget()
            self.ring.begin(self._head())

    def rest(self, rest: bool) -> None:
        """Write nothing until somebody wants it; or go on, with another segment."""
        if not rest:
            self.begin()
        self.ring.idle = rest

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks; the buffers are free again on return. False if they are lost."""
        ring = self.ring
        if payload <= _JOINED:
            buffers = (b"".join(buffers),)
        size = sum(map(len, buffers))
        with ring.lock:
            room = ring.room
            if room - size < ring.size >> 2:
                self._low()
            if size <= room and (self._seen == ring.segment or not packets):
                ring.append(buffers, size)
                self.stats.packets += packets
                self.stats.bytes += size
                return True
            if size > room >= 0:
                ring.skip()
            elif room < 0 and not self.losing:
                ring.begin(self._head())
        # also who has not introduced itself in the segment that has just begun
        return self.lose(packets, payload)

    def lose(self, packets: int, payload: int) -> bool:
        """Count what is not written, if somebody wants it. Always False."""
        if not self.ring.idle:
            self.stats.lost_packets += packets
            self.stats.lost_bytes += payload
        return False

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Nothing: the ring is closed by who made it, behind the last line."""
