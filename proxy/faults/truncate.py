"""`truncate`: the receiver gets only the first bytes of the frame; then the proxy closes both sides.

acks=0: as for any request.
Order: no message follows.
In flight: never; requests in flight get no response, since the connection ends.
"""

from __future__ import annotations

from barnabas.proxy.effects import Break, Effects
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import Size


class Truncate(Settings):
    """The receiver gets only the first bytes of the frame, with its full size; then both sides close."""

    keep: Size | None = None
    """The number of bytes, including the 4 of the size. If absent, the seed chooses."""


def truncate(config: Truncate, message: Message, roll: Roll) -> Effects:
    """Return the effect that cuts the frame off: after at least one byte, before its last one."""
    longest = message.size + 3
    keep = 1 + int(roll() * longest) if config.keep is None else config.keep
    return (Break(max(1, min(keep, longest))),)
