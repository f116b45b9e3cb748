"""`blackhole`: neither side gets another byte, FIN or RST. After `at_most` the proxy closes both sides.

acks=0: as for any request.
Order: no message follows.
In flight: requests in flight get no response; clients notice when both sides are closed.
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
    """The time after which the proxy closes both sides."""


def blackhole(config: Blackhole, message: Message, roll: Roll) -> Effects:
    """Return the effect that turns the connection into a black hole; no random draw."""
    return (Silence(config.at_most),)
