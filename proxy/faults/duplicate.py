"""`duplicate`: the receiver gets the message again, right behind itself. Of a repeated request
the client gets one response: the proxy takes out what a broker answers to the repetitions.

acks=0: repeated, and not answered once.
Order: kept; the repetition stands right behind the message.
In flight: once for each time that the request leaves.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from barnabas.proxy.effects import Effects, Repeat
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings


class Duplicate(Settings):
    """The receiver gets the message again, right behind itself.

    A broker does what it is asked each time; its answers to the repetitions are taken out. A client
    that gets a response twice meets a correlation id that it does not wait for.
    """

    times: Annotated[int, Field(ge=1, le=1000)] = 1
    """How many times more."""

    only_kafka: ClassVar = True


def duplicate(config: Duplicate, message: Message, roll: Roll) -> Effects:
    """Repeat it; nothing is left to chance."""
    return (Repeat(config.times),)
