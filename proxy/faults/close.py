"""`close`: client and broker see a FIN: the proxy closes both sides.

With `forward: true` the message leaves first.

acks=0: as for any request.
Order: no message follows.
In flight: requests in flight get no response, since the connection ends.
"""

from __future__ import annotations

from barnabas.proxy.effects import Effects, HangUp
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings


class Close(Settings):
    """Client and broker see a FIN: the proxy closes both sides of the connection."""

    forward: bool = False
    """Whether the receiver still gets the message before the proxy closes."""


def close(config: Close, message: Message, roll: Roll) -> Effects:
    """Return the effect that closes the connection; no random draw."""
    return (HangUp(config.forward),)
