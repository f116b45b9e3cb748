"""`coalesce`: the receiver gets `count` messages of the rule at once, in their order.

Messages between them leave together with them.

acks=0: as for any request.
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

    Messages between them wait as well, and keep their positions.
    """

    count: Annotated[int, Field(ge=2, le=1000)] = 10
    """The number of messages that leave together."""
    at_most: Duration = 100 * TIMES["ms"]
    """The longest wait of a message."""


def coalesce(config: Coalesce, message: Message, roll: Roll) -> Effects:
    """Return the effect that gathers messages; no random draw."""
    return (Gather(config.count, config.at_most),)
