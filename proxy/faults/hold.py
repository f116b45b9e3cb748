"""`hold`: the receiver gets the message behind others that came after it: it waits until another message
has passed (`until`: as `match`, and `same`), or so many of its direction (`messages`, with `same`), or for
a `time`, or (`control: true`) until `barnabas ctl rule release NAME`.

acks=0: as any request.
Order: requests that left in another order are answered in it, and the responses put back into the
client's, unless `restore` is false; a response that is held is overtaken, and the client sees that.
In flight: from when the request leaves.
"""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import Field, WithJsonSchema, model_validator

from barnabas.proxy.effects import Aside, Effects
from barnabas.proxy.matching.match import Same, Until
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings, one_of
from barnabas.proxy.matching.units import TIMES, Duration
from barnabas.specs.frames import Direction

OTHERS: Final = {"client": "the same client", "group": "the same group", "any": "any client"}
"""Whose other messages, in words."""


class Hold(Settings, json_schema_extra=one_of("until", "messages", "time", "control")):
    """The receiver gets the message once something has happened; what is behind it passes meanwhile.

    Give one of `until`, `messages`, `time` and `control`.
    """

    until: Until | None = None
    """Another message: it leaves right behind that."""
    messages: Annotated[int, Field(ge=1, le=1000)] | None = None
    """So many other messages of its direction: it leaves right behind them."""
    same: Same = "connection"
    """With `messages`: which ones count, those of the same connection, client id or group, or any."""
    time: Annotated[Duration, Field(gt=0)] | None = None
    """So long after its arrival."""
    control: Annotated[bool, WithJsonSchema({"const": True})] = False
    """Until somebody says so: `barnabas ctl rule release NAME`."""
    at_most: Duration = 30 * TIMES["s"]
    """It leaves after this time at the latest."""
    restore: bool = True
    """Responses to requests that left in another order are put back into the client's order."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = (self.until, self.messages, self.time, self.control or None)
        if sum(condition is not None for condition in given) != 1:
            raise ValueError("give one of until, messages, time and control")
        if self.messages is None and "same" in self.model_fields_set:
            raise ValueError("same goes with messages; until has its own: until: {same: client}")
        if self.time is not None and self.time > self.at_most:
            raise ValueError("time is longer than at_most: give a longer at_most")
        return self

    @property
    def counts(self) -> Same:
        """Whose messages it counts."""
        return "connection" if self.messages is None else self.same

    @property
    def across(self) -> str:
        """How it depends on other connections; "" if it does not."""
        same = self.counts if self.until is None else self.until.same
        return "" if same == "connection" else f"it waits for messages of {OTHERS[same]}"


def hold(config: Hold, message: Message, roll: Roll) -> Effects:
    """Stand aside; nothing is left to chance."""
    if config.until is not None:
        own, same = config.until, config.until.same
        return (Aside(config.at_most, until=own, same=same, restore=config.restore),)
    if config.messages is not None:
        return (
            behind(config.messages, config.same, message.direction, config.at_most, config.restore),
        )
    if config.time is not None:
        return (Aside(config.time, restore=config.restore),)
    return (Aside(config.at_most, control=True, restore=config.restore),)


def behind(count: int, same: Same, direction: Direction, at_most: int, restore: bool) -> Aside:
    """Stand aside until so many others of a direction have passed."""
    until = None if same == "connection" else Until(direction=direction, same=same)
    return Aside(at_most, until, same, count, restore)
