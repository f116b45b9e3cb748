"""`stall`: whoever sends finds that nobody reads: for a `time` the proxy reads nothing from the client, the
broker or both, and buffers fill.

acks=0: as any request.
Order: kept.
In flight: as without it; what is not read waits with whoever sends it.
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
    """Whoever sends finds that nobody reads: the proxy stops reading, and buffers fill.

    The receiver still gets the message itself, and what was read already.
    """

    time: Duration
    """How long."""
    side: Literal["client", "broker", "both"] = "client"
    """From whom nothing is read."""

    @property
    def no_op(self) -> str:
        """The setting that makes it do nothing; "" if it does something."""
        return "" if self.time else "time"


def stall(config: Stall, message: Message, roll: Roll) -> Effects:
    """Stop reading; nothing is left to chance."""
    found: list[effects.Stall] = []
    if config.side != "broker":
        found.append(effects.Stall("request", config.time))
    if config.side != "client":
        found.append(effects.Stall("response", config.time))
    return tuple(found)
