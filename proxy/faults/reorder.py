"""`reorder`: the receiver gets messages in another order.

The message leaves after the next n (`swap`), or windows of n messages leave backwards (`reverse`) or in an
order that the seed chooses (`shuffle`); with `same`, across connections.

acks=0: as for any request.
Order: brokers answer in the changed order; the responses are put back into the client's order, unless
`restore` is false. Reordered responses stay in their new order.
In flight: from when the request leaves.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from barnabas.proxy.effects import Effects, Shuffle
from barnabas.proxy.faults.hold import OTHERS, hold_until_passed
from barnabas.proxy.matching.match import Same
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings, one_of
from barnabas.proxy.matching.units import TIMES, Duration


class Reorder(Settings, json_schema_extra=one_of("swap", "reverse", "shuffle")):
    """The receiver gets messages in another order: give one of `swap`, `reverse`, `shuffle`.

    If a connection ends, its messages are no longer waited for.
    """

    swap: Annotated[int, Field(ge=1, le=1000)] | None = None
    """The number of later messages after which the message leaves."""
    reverse: Annotated[int, Field(ge=2, le=1000)] | None = None
    """The size of windows that leave last in, first out."""
    shuffle: Annotated[int, Field(ge=2, le=1000)] | None = None
    """The size of windows that leave in an order that the seed chooses."""
    same: Same = "connection"
    """The messages to reorder: those of the same connection, client id or group, or all. All but
    `connection` depend on the order in which connections get their turn: they are deterministic in
    rehearse only."""
    at_most: Duration = 5 * TIMES["s"]
    """The longest wait of a message."""
    restore: bool = True
    """Whether responses to reordered requests are put back into the client's order."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(given is not None for given in (self.swap, self.reverse, self.shuffle)) != 1:
            raise ValueError("give one of swap, reverse and shuffle")
        return self

    @property
    def counts(self) -> Same:
        """Return the scope in which messages are counted."""
        return "connection" if self.swap is None else self.same

    @property
    def across(self) -> str:
        """Return how the fault depends on other connections; "" if it does not."""
        return "" if self.same == "connection" else f"it waits for messages of {OTHERS[self.same]}"


def reorder(config: Reorder, message: Message, roll: Roll) -> Effects:
    """Put the message after the next ones, or into a window that leaves in its own order.

    Raises:
        Unable: The message names no group, with `same: group`.

    >>> reorder(Reorder(shuffle=4), ..., lambda: 0.0)
    (Shuffle(order=(1, 2, 3, 0), at_most=5000000000, restore=True, scope=''),)
    """
    if config.swap is not None:
        return (
            hold_until_passed(
                config.swap, config.same, message.direction, config.at_most, config.restore
            ),
        )
    order = list(range(config.reverse or config.shuffle or 0))
    if config.reverse is not None:
        order.reverse()
    else:
        for last in range(len(order) - 1, 0, -1):  # Fisher-Yates
            other = int(roll() * (last + 1))
            order[last], order[other] = order[other], order[last]
    return (Shuffle(tuple(order), config.at_most, config.restore, _scope(config.same, message)),)


def _scope(same: Same, message: Message) -> str:
    match same:
        case "connection":
            return ""
        case "client":
            return f"client {message.client_id}"
        case "group":
            if message.group is None:
                raise Unable("the message names no group")
            return f"group {message.group}"
        case _:
            return "all"
