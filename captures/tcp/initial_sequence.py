"""The sequence numbers with which a conversation begins.

A capture may begin in the middle of a conversation, or have its handshake behind other packets. So the first
TCP segments are held back until both SYNs, or enough other ones, have come.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.flow import GRACE
from barnabas.captures.tcp.half import MODULUS, signed_distance
from barnabas.captures.tcp.headers import ACK, SYN, Captured, TcpSegment

WAIT_NS: Final = 1_000_000_000
"""So long, by the capture's clock, the SYNs are waited for: the next TCP segment behind it ends the wait."""

_NEAR: Final = 1 << 20
"""Bytes by which what was held back may be ahead of its SYN; beyond them that opens another conversation."""


@dataclass(slots=True)
class InitialSequence:
    """The first TCP segments of a conversation, in the order of the file."""

    number: int
    """The conversation's, which is counted when the first of them comes."""
    held: list[Captured] = field(default_factory=list)
    size: int = 0
    """Bytes of their payloads."""

    def add(self, held: Captured) -> None:
        """One more of them."""
        self.held.append(held)
        self.size += len(held.tcp.payload)

    def decided(self, patience: int) -> bool:
        """Whether both SYNs are there, or have been waited for long enough."""
        if len(self.held) >= GRACE or self.size >= patience:
            return True
        syns = {held.tcp.source for held in self.held if held.tcp.flags & SYN}
        return len(syns) == 2

    def waits_for(self, held: Captured) -> bool:
        """Whether one more may belong to what was held back: it comes soon, and if it is a SYN, all of the
        same direction stands shortly behind it.

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
            0 <= signed_distance(one.tcp.seq, syn.seq) <= _NEAR
            for one in self.held
            if one.tcp.source == syn.source
        )

    def in_order(self) -> list[Captured]:
        """The handshake, as far as it is there, before all others."""
        return sorted(self.held, key=lambda held: _rank(held.tcp))

    def first(self, source: Endpoint) -> int | None:
        """The sequence number of the first byte from there: behind its SYN, else the lowest that came, or
        that the other end waited for behind its own SYN. None: none did.

        >>> from barnabas.captures.tcp.headers import PSH
        >>> ends = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
        >>> there = [(*ends, 7, 0, SYN, b""), (*ends, 8, 301, ACK, b""), (*ends[::-1], 305, 8, PSH, b"ab")]
        >>> begun = InitialSequence(1, [Captured(TcpSegment(*one), 0, (), 1) for one in there])
        >>> begun.first(ends[0]), begun.first(ends[1])
        (8, 301)
        """
        mine = [held.tcp for held in self.held if held.tcp.source == source]
        others = [held.tcp for held in self.held if held.tcp.source != source]
        for tcp in mine:
            if tcp.flags & SYN:
                return (tcp.seq + 1) % MODULUS
        found = [tcp.seq for tcp in mine if tcp.payload]
        if any(tcp.flags & SYN for tcp in others):
            found += [tcp.ack for tcp in others if tcp.flags & (ACK | SYN) == ACK]
        if not found:
            return None
        return (found[0] + min(signed_distance(seq, found[0]) for seq in found)) % MODULUS


def _rank(tcp: TcpSegment) -> int:
    """The client's SYN, the broker's, all others."""
    if not tcp.flags & SYN:
        return 2
    return 1 if tcp.flags & ACK else 0
