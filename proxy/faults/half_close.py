"""`half_close`: the receiver gets the message and a FIN after it; the other direction continues.

acks=0: as for any request.
Order: kept, up to the end.
In flight: requests that left before are answered; later requests are not.
"""

from __future__ import annotations

from barnabas.proxy import effects
from barnabas.proxy.effects import Effects
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings


class HalfClose(Settings):
    """The receiver gets the message, a FIN after it, and nothing more; the other direction continues."""


def half_close(config: HalfClose, message: Message, roll: Roll) -> Effects:
    """Return the effect that ends the message's direction; no random draw."""
    return (effects.HalfClose(),)
