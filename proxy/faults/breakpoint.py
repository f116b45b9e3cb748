"""`breakpoint`: the message waits for a person's decision.

It then leaves unchanged or changed, is dropped or answered, or its connection is reset (`barnabas ctl
breakpoints`, `barnabas ctl decide`). After `at_most`, or when its client has gone, it leaves unchanged. To
stop only the next match: `when: {times: 1, scope: rule}`.

acks=0: as for any request.
Order: kept: later messages of its direction wait too, as with a slow broker.
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
    """The message waits for a person's decision; later messages of its direction wait too."""

    at_most: Annotated[Duration, Field(gt=0)] = 300 * TIMES["s"]
    """The time after which the message leaves unchanged."""

    only_kafka: ClassVar = True

    asks: ClassVar = True


def breakpoint(config: Breakpoint, message: Message, roll: Roll) -> Effects:  # noqa: A001
    """Return the effect that halts the message; no random draw."""
    return (Halt(config.at_most),)
