"""`isolate`: some clients and some brokers get no byte from each other for a time; then they get all of it.

acks=0: as any request.
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
    """For a time some clients and some brokers get no byte from each other, on any connection; then all
    that was sent meanwhile arrives, as with TCP once a network is whole again.

    The message that sets it off is held back too if it is between these.
    """

    lasts: Duration
    """How long."""
    clients: Globs = None
    """Client ids: a glob, or a list. All if absent."""
    brokers: Integers = None
    """Node ids. All if absent, the bootstrap address too."""
    direction: Literal["both", "request", "response"] = "both"
    """`request`: nothing reaches the brokers, and what they send still arrives; or the reverse."""

    across: ClassVar[str] = "it acts on all connections"
    """How it depends on other connections."""

    @property
    def no_op(self) -> str:
        """The setting that makes it do nothing; "" if it does something."""
        return "" if self.lasts else "lasts"


def isolate(config: Isolate, message: Message, roll: Roll) -> Effects:
    """Begin it; nothing is left to chance."""
    ways: tuple[Direction, ...] = ("request", "response")
    if config.direction != "both":
        ways = (config.direction,)
    return (Partition(config.lasts, config.clients, config.brokers, ways),)
