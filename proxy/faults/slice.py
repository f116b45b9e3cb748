"""`slice`: the receiver gets the message in TCP segments of `size` bytes, `every` apart.

acks=0: as for any request.
Order: kept; no byte comes between two pieces.
In flight: from when the request's last piece has left.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from barnabas.proxy.effects import Effects, Pieces
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import TIMES, Duration, Size


class Slice(Settings):
    """The receiver gets the message in small TCP segments, one after the other."""

    size: Annotated[Size, Field(ge=1)] = 1
    """The bytes of each segment."""
    every: Duration = 1 * TIMES["ms"]
    """The time between two segments; with 0 the system may join them again."""


def slice(config: Slice, message: Message, roll: Roll) -> Effects:  # noqa: A001 - the fault's name
    """Return the effect that sends the message in pieces; no random draw."""
    return (Pieces(config.size, config.every),)
