"""`throttle`: the receiver gets messages no faster than a line of so many `bytes` or `messages` a second
carries them.

acks=0: as any request.
Order: kept, since what is behind waits too.
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
"""Lines of a rule that are busy at once; of more, the one that was used least lately begins anew."""


class Throttle(Settings, json_schema_extra=some_of("bytes", "messages")):
    """The receiver gets messages no faster than a line of this rate carries them.

    Each leaves when its last byte would have come over such a line: exact for bytes in bulk and for small
    messages alike. Give `bytes`, `messages`, or both.
    """

    bytes: Size | None = None
    """Bytes a second."""
    messages: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """Messages a second."""
    per: Literal["connection", "client", "broker", "rule"] = "connection"
    """What shares the line. All but `connection` depend on the order in which connections get their
    turn: they are deterministic in rehearse only."""

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
        return "" if self.per == "connection" else f"connections share a rate per {self.per}"


class RateLimiter:
    """When each line of a rule is free again, by who shares it.

    >>> limiter = RateLimiter()
    >>> [limiter.pace(line, 10, now) for line, now in (("a", 0), ("a", 5), ("b", 5))]
    [10, 20, 15]
    """

    def __init__(self) -> None:
        self._busy: OrderedDict[bytes, int] = OrderedDict()
        self._idle = 0
        """From when on one of them may be idle."""

    def __len__(self) -> int:
        return len(self._busy)

    def pace(self, line: str, ns: int, now: int) -> int:
        """When something is through that takes so many ns of a line. What is idle saves nothing up."""
        # a name may be a client's id of 32 KB
        key = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        until = max(self._busy.pop(key, now), now) + ns
        self._busy[key] = until
        if len(self._busy) > MOST:
            self._forget(now)
        return until

    def _forget(self, now: int) -> None:
        """An idle line is as good as one that never was."""
        if now >= self._idle:
            self._busy = OrderedDict(
                (key, until) for key, until in self._busy.items() if until > now
            )
            self._idle = min(self._busy.values(), default=0)
        if len(self._busy) > MOST:
            self._busy.popitem(last=False)


def throttle(config: Throttle, message: Message, roll: Roll, limiter: RateLimiter) -> Effects:
    """Take the time that the message needs on the line; nothing is left to chance."""
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
