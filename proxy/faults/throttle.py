"""`throttle`: the receiver gets messages no faster than a line of a given rate carries them.

The line carries so many `bytes` or `messages` per second.

acks=0: as for any request.
Order: kept, since later messages wait too.
In flight: from when the request leaves.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from functools import partial
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from barnabas.proxy.effects import Effects, Schedule
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings, some_of
from barnabas.proxy.matching.units import Size, show_duration

MOST: Final = 10_000
"""The most busy lines of a rule; beyond that, the line used least recently starts anew."""


class Throttle(Settings, json_schema_extra=some_of("bytes", "messages")):
    """The receiver gets messages no faster than a line of this rate carries them.

    A message leaves when the line would have carried its last byte: exact for bulk data and for small
    messages alike. Give `bytes`, `messages`, or both.
    """

    bytes: Size | None = None
    """Bytes per second."""
    messages: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """Messages per second."""
    per: Literal["connection", "client", "broker", "rule"] = "connection"
    """The scope that shares one line. All but `connection` depend on the order in which connections get
    their turn: they are deterministic in rehearse only."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.bytes is None and self.messages is None:
            raise ValueError("give bytes, messages, or both (a second)")
        if self.bytes == 0:
            raise ValueError("bytes: 0 a second would never pass; use stall or blackhole")
        return self

    @property
    def across(self) -> str:
        """Return how the fault depends on other connections; "" if it does not."""
        return "" if self.per == "connection" else f"connections share a rate per {self.per}"


class RateLimiter:
    """The times at which each line of a rule is free again, by the line's name.

    >>> limiter = RateLimiter()
    >>> [limiter.pace(line, 10, now) for line, now in (("a", 0), ("a", 5), ("b", 5))]
    [10, 20, 15]
    """

    def __init__(self) -> None:
        self._busy: OrderedDict[bytes, int] = OrderedDict()
        self._idle = 0
        """The earliest time at which a line may be idle."""

    def __len__(self) -> int:
        return len(self._busy)

    def pace(self, line: str, ns: int, now: int) -> int:
        """Return the time at which a transfer of so many ns is finished; an idle line saves nothing up."""
        # a name may be a client's id of 32 KB
        key = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        until = max(self._busy.pop(key, now), now) + ns
        self._busy[key] = until
        if len(self._busy) > MOST:
            self._forget(now)
        return until

    def _forget(self, now: int) -> None:
        """Forget idle lines, which are as good as new; if none is idle, the one used least recently."""
        if now >= self._idle:
            self._busy = OrderedDict(
                (key, until) for key, until in self._busy.items() if until > now
            )
            self._idle = min(self._busy.values(), default=0)
        if len(self._busy) > MOST:
            self._busy.popitem(last=False)


def throttle(config: Throttle, message: Message, roll: Roll, limiter: RateLimiter) -> Effects:
    """Return the effect that lets the message leave when its line has carried it; no random draw."""
    ns = 0
    if config.bytes is not None:
        ns = (message.size + 4) * 10**9 // config.bytes
    if config.messages is not None:
        ns = max(ns, round(1e9 / config.messages))
    line = {
        "connection": f"connection {message.connection}",
        "client": f"client {message.client_id}",
        "broker": f"broker {message.broker}",
        "rule": "rule",
    }[config.per]
    shared = "" if config.per == "connection" else f" on the line of {line}"
    return (Schedule(partial(limiter.pace, line, ns), f"throttle {show_duration(ns)}{shared}"),)
