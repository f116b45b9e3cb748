"""`coalesce`: the receiver gets `count` messages of the rule at once, in their order, and with them all
that came between them.

acks=0: as any request.
Order: kept.
In flight: from when the request leaves.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from barnabas.proxy.effects import Effects, Gather
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import TIMES, Duration


class Coalesce(Settings):
    """The receiver gets several messages of one direction at once, in their order.

    What comes between them waits as well, and arrives in its place.
    """

    count: Annotated[int, Field(ge=2, le=1000)] = 10
    """So many together."""
    at_most: Duration = 100 * TIMES["ms"]
    """They leave after this time at the latest."""


def coalesce(config: Coalesce, message: Message, roll: Roll) -> Effects:
    """Wait for the others; nothing is left to chance."""
    return (Gather(config.count, config.at_most),)
