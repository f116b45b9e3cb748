"""`duplicate`: the receiver gets the message again, right after itself.

For a repeated request the client gets one response: the proxy removes the broker's responses to the
repetitions.

acks=0: repeated, without any response.
Order: kept; the repetition follows the message immediately.
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
    """The receiver gets the message again, right after itself.

    A broker handles a request each time; its responses to the repetitions are removed. A client that gets a
    response twice meets a correlation id that it does not wait for.
    """

    times: Annotated[int, Field(ge=1, le=1000)] = 1
    """The number of repetitions."""

    only_kafka: ClassVar = True


def duplicate(config: Duplicate, message: Message, roll: Roll) -> Effects:
    """Return the effect that repeats the message; no random draw."""
    return (Repeat(config.times),)
