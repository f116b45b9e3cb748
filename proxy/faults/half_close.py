"""`half_close`: the receiver gets the message and a FIN behind it; the other direction goes on.

acks=0: as any request.
Order: kept, up to the end.
In flight: what left before is still answered, what comes behind is not.
"""

from __future__ import annotations

from barnabas.proxy import effects
from barnabas.proxy.effects import Effects
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings


class HalfClose(Settings):
    """The receiver gets the message, a FIN behind it, and nothing more; the other direction goes on."""


def half_close(config: HalfClose, message: Message, roll: Roll) -> Effects:
    """End this direction; nothing is left to chance."""
    return (effects.HalfClose(),)
