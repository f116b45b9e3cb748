"""`blackhole`: neither side gets another byte, FIN or RST; after `at_most` the proxy closes both.

acks=0: as any request.
Order: nothing follows.
In flight: what is has no response; it is told so when both sides are closed.
"""

from __future__ import annotations

from barnabas.proxy.effects import Effects, Silence
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import TIMES, Duration


class Blackhole(Settings):
    """Neither side gets another byte, FIN or RST, as when a load balancer forgets a flow."""

    at_most: Duration = 10 * TIMES["m"]
    """After this time the proxy closes both sides."""


def blackhole(config: Blackhole, message: Message, roll: Roll) -> Effects:
    """Fall silent with this message; nothing is left to chance."""
    return (Silence(config.at_most),)
