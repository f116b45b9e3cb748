"""`stall`: for a `time` the proxy reads nothing from the client, the broker or both, and buffers fill.

acks=0: as for any request.
Order: kept.
In flight: unchanged; unread bytes wait with their sender.
"""

from __future__ import annotations

from typing import Literal

from barnabas.proxy import effects
from barnabas.proxy.effects import Effects
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import Duration


class Stall(Settings):
    """The proxy stops reading from one or both sides, and buffers fill.

    The receiver still gets the message itself, and all that was read before.
    """

    time: Duration
    """How long nothing is read."""
    side: Literal["client", "broker", "both"] = "client"
    """The side from which nothing is read."""

    @property
    def no_op(self) -> str:
        """Return the setting that makes the fault do nothing; "" if it does something."""
        return "" if self.time else "time"


def stall(config: Stall, message: Message, roll: Roll) -> Effects:
    """Return the effects that stop reading; no random draw."""
    stalls: list[effects.Stall] = []
    if config.side != "broker":
        stalls.append(effects.Stall("request", config.time))
    if config.side != "client":
        stalls.append(effects.Stall("response", config.time))
    return tuple(stalls)
