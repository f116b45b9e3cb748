"""`hold`: the message steps aside until another one passes; what is behind it passes."""

from __future__ import annotations

from proxy.dice import Roll
from proxy.effects import Aside, Effects
from proxy.matching import Until
from proxy.message import Message
from proxy.settings import Settings
from proxy.units import TIMES, Duration


class Hold(Settings):
    """The message steps aside until another one has passed; what is behind it passes too."""

    until: Until
    """The message that it waits for; it leaves right behind that."""
    at_most: Duration = 30 * TIMES["s"]
    """It leaves after this time at the latest."""


def hold(config: Hold, message: Message, roll: Roll) -> Effects:
    """Stand aside; nothing is left to chance."""
    return (Aside(config.at_most, until=config.until, same=config.until.same),)
