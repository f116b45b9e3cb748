"""The sequence numbers with which a conversation begins.

A capture may begin in the middle of a conversation, or have its handshake behind other packets. So the first
segments are held back until both SYNs, or enough other segments, have come.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.flow import GRACE
from barnabas.captures.tcp.half import MODULUS, signed_distance
from barnabas.captures.tcp.headers import ACK, SYN, Segment

WAIT_NS: Final = 1_000_000_000
"""So long, by the capture's clock, the SYNs are waited for: the next segment behind it ends the wait."""

_NEAR: Final = 1 << 20
"""Bytes by which what was held back may be ahead of its SYN; beyond them that opens another conversation."""


class Held(NamedTuple):
    """A segment, when it was captured, what was said of it, and its packet's number."""

    segment: Segment
    ts_ns: int
    comments: tuple[str, ...]
    packet: int


@dataclass(slots=True)
class InitialSequence:
    """The first segments of a conversation, in the order of the file."""

    number: int
    """The conversation's, which is counted when the first of them comes."""
    held: list[Held] = field(default_factory=list)
    size: int = 0
    """Bytes of their payloads."""

    def add(self, held: Held) -> None:
        """One more of them."""
        self.held.append(held)
        self.size += len(held.segment.payload)

    def decided(self, patience: int) -> bool:
        """Whether both SYNs are there, or have been waited for long enough."""
        if len(self.held) >= GRACE or self.size >= patience:
            return True
        syns = {held.segment.source for held in self.held if held.segment.flags & SYN}
        return len(syns) == 2

    def waits_for(self, held: Held) -> bool:
        """Whether one more may belong to what was held back: it comes soon, and if it is a SYN, all of the
        same direction stands shortly behind it.

        >>> from barnabas.captures.tcp.headers import PSH
        >>> ends = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
        >>> begun = InitialSequence(1, [Held(Segment(*ends, 103, 0, ACK | PSH, b"cd"), 0, (), 1)])
        >>> [begun.waits_for(Held(Segment(*ends, isn, 0, SYN, b""), 0, (), 2)) for isn in (9, 500)]
        [True, False]
        """
        syn = held.segment
        if held.ts_ns - self.held[0].ts_ns >= WAIT_NS:
            return False
        return not syn.flags & SYN or all(
            0 <= signed_distance(one.segment.seq, syn.seq) <= _NEAR
            for one in self.held
            if one.segment.source == syn.source
        )

    def in_order(self) -> list[Held]:
        """The handshake, as far as it is there, before all others."""
        return sorted(self.held, key=lambda held: _rank(held.segment))

    def first(self, source: Endpoint) -> int | None:
        """The sequence number of the first byte from there: behind its SYN, else the lowest that came.
        None: none did."""
        mine = [held.segment for held in self.held if held.segment.source == source]
        for segment in mine:
            if segment.flags & SYN:
                return (segment.seq + 1) % MODULUS
        found = [segment.seq for segment in mine if segment.payload]
        if not found:
            return None
        return (found[0] + min(signed_distance(seq, found[0]) for seq in found)) % MODULUS


def _rank(segment: Segment) -> int:
    """The client's SYN, the broker's, all others."""
    if not segment.flags & SYN:
        return 2
    return 1 if segment.flags & ACK else 0
