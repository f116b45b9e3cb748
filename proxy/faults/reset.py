"""`reset`: client and broker see an RST: the proxy resets both sides, and what is still on its way is lost.

acks=0: as any request.
Order: nothing follows.
In flight: what is has no response, since the connection ends.
"""

from __future__ import annotations

from barnabas.proxy.effects import Effects, HangUp
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings


class Reset(Settings):
    """Client and broker see an RST: what is still on its way is lost."""


def reset(config: Reset, message: Message, roll: Roll) -> Effects:
    """Reset both sides; nothing is left to chance."""
    return (HangUp(reset=True),)
