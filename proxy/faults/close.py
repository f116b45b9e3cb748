"""`close`: client and broker see a FIN: the proxy closes both sides; with `forward: true` the message
leaves first.

acks=0: as any request.
Order: nothing follows.
In flight: what is has no response, since the connection ends.
"""

from __future__ import annotations

from barnabas.proxy.effects import Effects, HangUp
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings


class Close(Settings):
    """Client and broker see a FIN: the proxy closes both sides of the connection."""

    forward: bool = False
    """The receiver still gets the message; then the proxy closes."""


def close(config: Close, message: Message, roll: Roll) -> Effects:
    """Hang up; nothing is left to chance."""
    return (HangUp(config.forward),)
