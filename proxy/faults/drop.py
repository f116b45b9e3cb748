"""`drop`: the receiver never gets the message, nor any later message of its direction.

This lasts until one side closes the connection: TCP can't lose one message out of a stream. `selective: true`
removes only this exchange. Clients expect responses in the order of their requests, so Java clients then fail
all requests in flight after it (`CorrelationIdMismatchException`). For a loss as by a network use `drop`
without `selective`, or `lose_reply`; for an error response use `respond`.

acks=0: lost like any other.
Order: no message follows a dropped one; with `selective` the order of the others is kept.
In flight: a dropped request: never; the request of a dropped response: no longer.
"""

from __future__ import annotations

from barnabas.proxy.effects import Effects, Lose
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings


class Drop(Settings):
    """The receiver never gets the message, nor any later one: TCP loses no single message."""

    selective: bool = False
    """Remove only this exchange. Java clients then fail on the next response's correlation id."""

    @property
    def caution(self) -> str:
        """Return how clients react more strongly than may be intended; "" if they do not."""
        return (
            "with selective drops one response only: Java clients then fail all later requests in "
            "flight (CorrelationIdMismatchException) and reconnect. For a loss as by "
            "a network use drop without selective, or lose_reply; for an error response respond"
            if self.selective
            else ""
        )


def drop(config: Drop, message: Message, roll: Roll) -> Effects:
    """Return the effect that loses the message; no random draw."""
    return (Lose(config.selective),)
