"""`throttle`: messages pass at a rate.

acks=0: as any request.
Order: kept, since what is behind waits too.
In flight: from when the request leaves.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from barnabas.proxy.effects import Effects, Pace
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings, some_of
from barnabas.proxy.matching.units import Size


class Throttle(Settings, json_schema_extra=some_of("bytes", "messages")):
    """Messages pass as over a line of this rate: each leaves when its last byte would have arrived.

    Exact for bytes in bulk and for small messages alike. Give `bytes`, `messages`, or both.
    """

    bytes: Size | None = None
    """So many bytes a second."""
    messages: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """So many messages a second."""
    per: Literal["connection", "client", "broker", "rule"] = "connection"
    """What shares the line. All but `connection` depend on the order in which connections get their
    turn: they are exact in rehearsal only."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.bytes is None and self.messages is None:
            raise ValueError("give bytes, messages, or both (a second)")
        if self.bytes == 0:
            raise ValueError("bytes: 0 a second would never pass; use stall or blackhole")
        return self

    @property
    def across(self) -> str:
        """How it depends on other connections; "" if it does not."""
        return "" if self.per == "connection" else f"one line per {self.per}"


def throttle(config: Throttle, message: Message, roll: Roll) -> Effects:
    """Take the time that the message needs on the line; nothing is left to chance."""
    ns = 0
    if config.bytes is not None:
        ns = (message.size + 4) * 10**9 // config.bytes
    if config.messages is not None:
        ns = max(ns, round(1e9 / config.messages))
    scope = {
        "connection": "",
        "client": f"client {message.client_id}",
        "broker": f"broker {message.broker}",
        "rule": "rule",
    }[config.per]
    return (Pace(ns, scope),)
