"""`hold`: the receiver gets the message after others that arrived later.

The message waits until another message has passed (`until`: as `match`, and `same`), or so many of its
direction (`messages`, with `same`), or for a `time`, or (`control: true`) until `barnabas ctl rule release
NAME`.

acks=0: as for any request.
Order: brokers answer reordered requests as they receive them; the responses are put back into the client's
order, unless `restore` is false. A held response is overtaken, and the client sees that.
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
"""The scope of counted messages, in words."""


class Hold(Settings, json_schema_extra=one_of("until", "messages", "time", "control")):
    """The receiver gets the message once a condition is met; later messages pass meanwhile.

    Give one of `until`, `messages`, `time` and `control`.
    """

    until: Until | None = None
    """Another message: the held one leaves right after it."""
    messages: Annotated[int, Field(ge=1, le=1000)] | None = None
    """The number of other messages of its direction after which the message leaves."""
    same: Same = "connection"
    """With `messages`: which ones count: those of the same connection, client id or group, or any."""
    time: Annotated[Duration, Field(gt=0)] | None = None
    """The time from the message's arrival to its departure."""
    control: Annotated[bool, WithJsonSchema({"const": True})] = False
    """Wait for `barnabas ctl rule release NAME`."""
    at_most: Duration = 30 * TIMES["s"]
    """The longest wait of the message."""
    restore: bool = True
    """Whether responses to reordered requests are put back into the client's order."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        conditions = (self.until, self.messages, self.time, self.control or None)
        if sum(condition is not None for condition in conditions) != 1:
            raise ValueError("give one of until, messages, time and control")
        if self.messages is None and "same" in self.model_fields_set:
            raise ValueError("same goes with messages; until has its own: until: {same: client}")
        if self.time is not None and self.time > self.at_most:
            raise ValueError("time is longer than at_most: give a longer at_most")
        return self

    @property
    def counts(self) -> Same:
        """Return the scope in which messages are counted."""
        return "connection" if self.messages is None else self.same

    @property
    def across(self) -> str:
        """Return how the fault depends on other connections; "" if it does not."""
        same = self.counts if self.until is None else self.until.same
        return "" if same == "connection" else f"it waits for messages of {OTHERS[same]}"


def hold(config: Hold, message: Message, roll: Roll) -> Effects:
    """Return the effect that puts the message aside; no random draw."""
    if config.until is not None:
        until, same = config.until, config.until.same
        return (Aside(config.at_most, until=until, same=same, restore=config.restore),)
    if config.messages is not None:
        return (
            hold_until_passed(
                config.messages, config.same, message.direction, config.at_most, config.restore
            ),
        )
    if config.time is not None:
        return (Aside(config.time, restore=config.restore),)
    return (Aside(config.at_most, control=True, restore=config.restore),)


def hold_until_passed(
    count: int, same: Same, direction: Direction, at_most: int, restore: bool
) -> Aside:
    """Return the effect that puts a message aside until so many others of a direction have passed."""
    until = None if same == "connection" else Until(direction=direction, same=same)
    return Aside(at_most, until, same, count, restore)
