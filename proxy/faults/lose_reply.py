"""`lose_reply`: the broker carries out the request, the client gets no response, and the proxy closes the
connection: the client can't know whether it was done.

acks=0: the connection is cut behind the request.
Order: what comes before the response still leaves, nothing behind it.
In flight: until the response comes, and the connection ends with it.
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

    On a request with acks=0, which has no response, the connection is closed behind it.
    """

    only_kafka: ClassVar = True


def lose_reply(config: LoseReply, message: Message, roll: Roll) -> Effects:
    """Lose the response; nothing is left to chance."""
    if message.direction == "response":
        return (HangUp(),)
    return (HangUp(forward=True),) if message.acks == 0 else (effects.LoseReply(),)
