"""`refuse`: a client that connects gets an RST, a FIN or nothing at all.

The rule has no other fault, and its `match` names brokers only.

acks=0: no request is sent.
Order: not applicable.
In flight: no request is.
"""

from __future__ import annotations

from typing import Literal

from barnabas.proxy.effects import Effects, Reject
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import TIMES, Duration


class Refuse(Settings):
    """A client that connects gets an RST, a FIN or nothing at all.

    The rule is about connections, not messages: its match can name brokers only, and `when` counts attempts
    to connect.
    """

    how: Literal["reset", "close", "hang"] = "reset"
    """reset: RST at once. close: FIN at once. hang: no answer, as with a firewall."""
    at_most: Duration = 30 * TIMES["s"]
    """With `hang`: the time after which the connection is closed."""


def refuse(config: Refuse, message: Message, roll: Roll) -> Effects:
    """Return the effect that refuses the connection; no random draw."""
    return (Reject(config.how, config.at_most),)
