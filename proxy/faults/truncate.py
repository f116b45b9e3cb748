"""`truncate`: the receiver gets only the first bytes of the frame; then the proxy closes both sides.

acks=0: as any request.
Order: nothing follows.
In flight: never, and what is has no response, since the connection ends.
"""

from __future__ import annotations

from barnabas.proxy.effects import Break, Effects
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import Size


class Truncate(Settings):
    """The receiver gets only the first bytes of the frame, whose size says all; then both sides close."""

    keep: Size | None = None
    """How many bytes, the 4 of the size among them. If absent, the seed decides."""


def truncate(config: Truncate, message: Message, roll: Roll) -> Effects:
    """Break off within the frame, behind one byte at least and before its last at most."""
    longest = message.size + 3
    keep = 1 + int(roll() * longest) if config.keep is None else config.keep
    return (Break(max(1, min(keep, longest))),)
