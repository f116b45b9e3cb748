"""`lose_reply`: the broker carries out the request, and the client gets no response.

The proxy closes the connection when the response arrives: the client cannot know whether the request was
carried out.

acks=0: the connection is closed after the request.
Order: earlier responses still leave, later ones do not.
In flight: until the response arrives, with which the connection ends.
"""

from __future__ import annotations

from typing import ClassVar

from barnabas.proxy import effects
from barnabas.proxy.effects import Effects, HangUp
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings


class LoseReply(Settings):
    """The broker carries out the request, the client gets no response, and its connection is closed.

    On a request with acks=0, which has no response, the connection is closed after the request.
    """

    only_kafka: ClassVar = True


def lose_reply(config: LoseReply, message: Message, roll: Roll) -> Effects:
    """Return the effect that loses the response; no random draw."""
    if message.direction == "response":
        return (HangUp(),)
    return (HangUp(forward=True),) if message.acks == 0 else (effects.LoseReply(),)
