"""`isolate`: some clients and some brokers get no byte from each other for a time.

Afterwards they get all of it.

acks=0: as for any request.
Order: kept.
In flight: from when the request leaves.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from barnabas.proxy.effects import Effects, Partition
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.notation import Globs, Integers
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import Duration
from barnabas.specs.frames import Direction


class Isolate(Settings):
    """For a time, some clients and some brokers get no byte from each other on any connection.

    Afterwards all that was sent meanwhile arrives, as with TCP once a network has healed. The message that
    starts the partition is held back, too, if it is between these clients and brokers.
    """

    lasts: Duration
    """The duration of the partition."""
    clients: Globs = None
    """Client ids: a glob, or a list. All if absent."""
    brokers: Integers = None
    """Node ids. If absent, all, and the bootstrap address."""
    direction: Literal["both", "request", "response"] = "both"
    """`request`: no byte reaches the brokers, but their bytes reach the clients; `response`: the reverse."""

    across: ClassVar[str] = "it acts on all connections"
    """How the fault depends on other connections."""

    @property
    def no_op(self) -> str:
        """Return the setting that makes the fault do nothing; "" if it does something."""
        return "" if self.lasts else "lasts"


def isolate(config: Isolate, message: Message, roll: Roll) -> Effects:
    """Return the effect that starts the partition; no random draw."""
    directions: tuple[Direction, ...] = ("request", "response")
    if config.direction != "both":
        directions = (config.direction,)
    return (Partition(config.lasts, config.clients, config.brokers, directions),)
