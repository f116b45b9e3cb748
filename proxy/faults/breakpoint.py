"""`breakpoint`: the message waits until somebody decides what becomes of it: it leaves as it is or changed,
is dropped or answered, or its connection is reset (`barnabas ctl breakpoints`, `barnabas ctl decide`). After
`at_most`, or when its client has gone, it leaves as it is. For the next match alone, and no other:
`when: {times: 1, scope: rule}`.

acks=0: as any request.
Order: kept: what is behind it in its direction waits too, as behind a broker that takes its time.
In flight: from when the request leaves.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from barnabas.proxy.effects import Effects, Halt
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import TIMES, Duration


class Breakpoint(Settings):
    """The message waits until somebody decides what becomes of it; what is behind it waits too."""

    at_most: Annotated[Duration, Field(gt=0)] = 300 * TIMES["s"]
    """It leaves as it is after this time at the latest."""

    only_kafka: ClassVar = True

    asks: ClassVar = True


def breakpoint(config: Breakpoint, message: Message, roll: Roll) -> Effects:  # noqa: A001
    """Wait; nothing is left to chance."""
    return (Halt(config.at_most),)
