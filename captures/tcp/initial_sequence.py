"""Find the initial sequence numbers of a conversation.

A capture may begin in the middle of a conversation, or have its handshake after other packets. So the first
TCP segments are held back until both SYNs, or enough other segments, have arrived.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.flow import GRACE
from barnabas.captures.tcp.half import MODULUS, signed_distance
from barnabas.captures.tcp.headers import ACK, SYN, Captured, TcpSegment

WAIT_NS: Final = 1_000_000_000
"""How long to wait for the SYNs, by capture time: the first TCP segment after that ends the wait."""

_NEAR: Final = 1 << 20
"""Bytes by which a held segment may be ahead of its SYN; a SYN further back opens another conversation."""


@dataclass(slots=True)
class InitialSequence:
    """The first TCP segments of a conversation, in file order."""

    number: int
    """The number of the conversation, taken when its first segment arrives."""
    held: list[Captured] = field(default_factory=list)
    size: int = 0
    """Payload bytes of all held segments."""

    def add(self, held: Captured) -> None:
        """Hold back another segment."""
        self.held.append(held)
        self.size += len(held.tcp.payload)

    def decided(self, wait_limit: int) -> bool:
        """Return whether both SYNs are held, or enough segments or bytes have waited for them."""
        if len(self.held) >= GRACE or self.size >= wait_limit:
            return True
        syns = {held.tcp.source for held in self.held if held.tcp.flags & SYN}
        return len(syns) == 2

    def waits_for(self, held: Captured) -> bool:
        """Return whether another segment may belong to the held ones.

        It must arrive soon. If it is a SYN, all held segments of its direction must follow it closely.

        >>> from barnabas.captures.tcp.headers import PSH
        >>> ends = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
        >>> begun = InitialSequence(1, [Captured(TcpSegment(*ends, 103, 0, ACK | PSH, b"cd"), 0, (), 1)])
        >>> [begun.waits_for(Captured(TcpSegment(*ends, isn, 0, SYN, b""), 0, (), 2)) for isn in (9, 500)]
        [True, False]
        """
        syn = held.tcp
        if held.ts_ns - self.held[0].ts_ns >= WAIT_NS:
            return False
        return not syn.flags & SYN or all(
            0 <= signed_distance(other.tcp.seq, syn.seq) <= _NEAR
            for other in self.held
            if other.tcp.source == syn.source
        )

    def in_order(self) -> list[Captured]:
        """Return the held segments, the SYNs first."""
        return sorted(self.held, key=lambda held: _rank(held.tcp))

    def first(self, source: Endpoint) -> int | None:
        """Return the sequence number of the first byte that an endpoint sends; None: unknown.

        That is the number after its SYN; without a SYN the lowest captured number, or a lower ACK number of
        the other endpoint if that one's SYN was captured.

        >>> from barnabas.captures.tcp.headers import PSH
        >>> ends = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
        >>> there = [(*ends, 7, 0, SYN, b""), (*ends, 8, 301, ACK, b""), (*ends[::-1], 305, 8, PSH, b"ab")]
        >>> begun = InitialSequence(1, [Captured(TcpSegment(*fields), 0, (), 1) for fields in there])
        >>> begun.first(ends[0]), begun.first(ends[1])
        (8, 301)
        """
        sent = [held.tcp for held in self.held if held.tcp.source == source]
        received = [held.tcp for held in self.held if held.tcp.source != source]
        for tcp in sent:
            if tcp.flags & SYN:
                return (tcp.seq + 1) % MODULUS
        candidates = [tcp.seq for tcp in sent if tcp.payload]
        if any(tcp.flags & SYN for tcp in received):
            candidates += [tcp.ack for tcp in received if tcp.flags & (ACK | SYN) == ACK]
        if not candidates:
            return None
        return (
            candidates[0] + min(signed_distance(seq, candidates[0]) for seq in candidates)
        ) % MODULUS


def _rank(tcp: TcpSegment) -> int:
    """Rank the client's SYN first, the broker's SYN second, and all other segments last."""
    if not tcp.flags & SYN:
        return 2
    return 1 if tcp.flags & ACK else 0
