"""`drop`: the message never leaves.

acks=0: lost like any other.
Order: nothing follows what is dropped; with `selective` the others keep theirs.
In flight: a request that is dropped never is, that of a dropped response no longer is.
"""

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
