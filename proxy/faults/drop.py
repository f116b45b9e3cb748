"""`drop`: the message never leaves."""

from __future__ import annotations

from proxy.dice import Roll
from proxy.effects import Effects, Lose
from proxy.message import Message
from proxy.settings import Settings


class Drop(Settings):
    """The message never leaves, and nothing behind it in its direction: TCP loses no single one."""

    selective: bool = False
    """Take out this one exchange only. Java clients then fail on the next correlation id."""


def drop(config: Drop, message: Message, roll: Roll) -> Effects:
    """Lose it; nothing is left to chance."""
    return (Lose(config.selective),)
