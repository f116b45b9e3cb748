"""`drop`: the receiver never gets the message, nor anything behind it in its direction, until somebody closes
the connection: TCP can't lose one message out of a stream. `selective: true` takes out just this exchange:
clients take responses in the order of their requests, so Java's fail all requests in flight behind it
(`CorrelationIdMismatchException`). For a loss as by a network use it without, or `lose_reply`; for an error
response `respond`.

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
    """The receiver never gets the message, nor anything behind it: TCP loses no single one."""

    selective: bool = False
    """Take out this one exchange only. Java's clients then fail on the next response's correlation id."""

    @property
    def caution(self) -> str:
        """What clients make of it that may not be meant; "" if nothing."""
        return (
            "with selective takes a single response out of the order of requests: Java clients fail all "
            "requests in flight behind it (CorrelationIdMismatchException) and reconnect. For a loss as by "
            "a network use drop without selective, or lose_reply; for an error response respond"
            if self.selective
            else ""
        )


def drop(config: Drop, message: Message, roll: Roll) -> Effects:
    """Lose it; nothing is left to chance."""
    return (Lose(config.selective),)
