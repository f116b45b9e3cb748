"""`reset`: both sides are closed with RST.

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
    """Both sides of the connection are reset (RST): what is still on its way is lost."""


def reset(config: Reset, message: Message, roll: Roll) -> Effects:
    """Reset both sides; nothing is left to chance."""
    return (HangUp(reset=True),)
