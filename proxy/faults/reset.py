"""`reset`: client and broker see an RST: the proxy resets both sides, and bytes in transit are lost.

acks=0: as for any request.
Order: no message follows.
In flight: requests in flight get no response, since the connection ends.
"""

from __future__ import annotations

from barnabas.proxy.effects import Effects, HangUp
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings


class Reset(Settings):
    """Client and broker see an RST: bytes in transit are lost."""


def reset(config: Reset, message: Message, roll: Roll) -> Effects:
    """Return the effect that resets both sides; no random draw."""
    return (HangUp(reset=True),)
