"""`close`: both sides are closed with FIN; `forward: true` lets the message leave first.

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
    """Both sides of the connection are closed."""

    forward: bool = False
    """The message still leaves; then the connection is closed."""


def close(config: Close, message: Message, roll: Roll) -> Effects:
    """Hang up; nothing is left to chance."""
    return (HangUp(config.forward),)
