"""`reorder`: messages of one direction leave in another order than they came."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from proxy.dice import Roll
from proxy.effects import Aside, Effects, Shuffle
from proxy.message import Message
from proxy.settings import Settings
from proxy.units import TIMES, Duration


class Reorder(Settings):
    """Messages of one direction leave in another order: give one of `swap`, `reverse`, `shuffle`."""

    swap: Annotated[int, Field(ge=1, le=1000)] | None = None
    """The message leaves behind this many that come after it."""
    reverse: Annotated[int, Field(ge=2, le=1000)] | None = None
    """Windows of this many messages leave last in, first out."""
    shuffle: Annotated[int, Field(ge=2, le=1000)] | None = None
    """Windows of this many messages leave in an order that the seed decides."""
    at_most: Duration = 5 * TIMES["s"]
    """No message is kept longer for the sake of others that do not come."""
    restore: bool = True
    """Responses to requests that left in another order are put back into the client's order."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(given is not None for given in (self.swap, self.reverse, self.shuffle)) != 1:
            raise ValueError("give one of swap, reverse and shuffle")
        return self


def reorder(config: Reorder, message: Message, roll: Roll) -> Effects:
    """Step behind the next ones, or open a window with an order of its own.

    >>> reorder(Reorder(shuffle=4), ..., lambda: 0.0)
    (Shuffle(order=(1, 2, 3, 0), at_most=5000000000, restore=True),)
    """
    if config.swap is not None:
        return (Aside(config.at_most, passing=config.swap, restore=config.restore),)
    order = list(range(config.reverse or config.shuffle or 0))
    if config.reverse is not None:
        order.reverse()
    else:
        for last in range(len(order) - 1, 0, -1):  # Fisher-Yates
            other = int(roll() * (last + 1))
            order[last], order[other] = order[other], order[last]
    return (Shuffle(tuple(order), config.at_most, config.restore),)
