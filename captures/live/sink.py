"""Writes the blocks of a capture into a ring. What does not fit is lost, until half of the ring is free."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.live.ring import Ring
from barnabas.captures.writing.block_sink import Stats


class RingSink:
    """A `BlockSink`. Where something was lost another segment begins, in which each flow is introduced again.

    head: what a segment begins with. low: called with each block while less than a quarter is free.
    """

    def __init__(
        self, ring: Ring, head: Callable[[], bytes], low: Callable[[], None] = lambda: None
    ) -> None:
        self.ring = ring
        self.stats = Stats()
        self.segment = 0
        self._head = head
        self._low = low
        self._skipping = False
        self.begin()

    def begin(self) -> None:
        """Begin another segment: for a reader that knows nothing yet."""
        head = self._head()
        self.ring.append([head], len(head))
        self.segment += 1
        self._skipping = False

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        """Write whole blocks; the buffers are free again on return. False if they are lost."""
        size = sum(map(len, buffers))
        free = self.ring.free
        if free - size < self.ring.size >> 2:
            self._low()
        if self._skipping and free >= self.ring.size >> 1:
            self.begin()  # who writes this block has not introduced itself there: it is lost, too
        elif not self._skipping and size <= free:
            self.ring.append(buffers, size)
            self.stats.packets += packets
            self.stats.bytes += size
            return True
        else:
            self._skipping = True
        return self.lose(packets, payload)

    def lose(self, packets: int, payload: int) -> bool:
        """Count what is not written. Always False."""
        self.stats.lost_packets += packets
        self.stats.lost_bytes += payload
        return False

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Nothing: the ring is closed by who made it, behind the last line."""
