"""`refuse`: a client that connects gets an RST, a FIN or nothing at all (a rule of its own; `match` names
brokers only).

acks=0: no request comes that far.
Order: there is none.
In flight: nothing.
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
    """reset: RST at once. close: FIN at once. hang: nothing at all, as behind a firewall."""
    at_most: Duration = 30 * TIMES["s"]
    """With `hang`: closed after this time."""


def refuse(config: Refuse, message: Message, roll: Roll) -> Effects:
    """Turn the client away; nothing is left to chance."""
    return (Reject(config.how, config.at_most),)
