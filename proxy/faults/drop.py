"""`drop`: the message never leaves, nor does anything behind it, until somebody closes: TCP can't lose one
message out of a stream. `selective: true` takes out just this exchange: clients take responses in the
order of their requests, so Java's fail on all in flight behind it (`CorrelationIdMismatchException`). For
a loss as by a network use it without, or `lose_reply`; for a refusal `respond`.

acks=0: lost like any other.
Order: nothing follows what is dropped; with `selective` the others keep theirs.
In flight: a request that is dropped never is, that of a dropped response no longer is.
"""

from __future__ import annotations

from barnabas.proxy.effects import Effects, Lose
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings


class Drop(Settings):
    """The message never leaves, and nothing behind it in its direction: TCP loses no single one."""

    selective: bool = False
    """Take out this one exchange only. Java's clients then fail on the next response's correlation id."""

    @property
    def caution(self) -> str:
        """What clients make of it that may not be meant; "" if nothing."""
        return (
            "takes one exchange out of those of its connection: clients take responses in the order of "
            "their requests, so Java's fail on all that is in flight behind it "
            "(CorrelationIdMismatchException) and connect again; for a loss as by a network use "
            "drop without selective, or lose_reply; for a refusal respond"
            if self.selective
            else ""
        )


def drop(config: Drop, message: Message, roll: Roll) -> Effects:
    """Lose it; nothing is left to chance."""
    return (Lose(config.selective),)
