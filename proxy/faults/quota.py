"""`quota`: the client gets a response that tells it to wait (throttle_time_ms).

For that time the proxy reads nothing from it, as a broker does whose quota is exceeded (KIP-219).

acks=0: not throttled, since there is no response.
Order: kept; the response leaves at once.
In flight: unchanged.
"""

from __future__ import annotations

from typing import ClassVar

from barnabas.proxy.effects import Become, Effects, Stall
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import TIMES, Duration
from barnabas.specs import api
from barnabas.specs.frames import Direction


class Quota(Settings):
    """The client gets a response that tells it how long to wait, as if a quota were exceeded (KIP-219).

    For that time the proxy reads nothing from the client, as a broker does.
    """

    throttle: Duration
    """The value of throttle_time_ms, in whole milliseconds."""
    mute: bool = True
    """Whether the proxy reads nothing from the client for that time, as brokers since 2.0 do."""

    only_kafka: ClassVar = True

    def applies_to(self, key: int, direction: Direction, version: int) -> bool:
        """Return whether a message is a response with throttle_time_ms."""
        slots = api(key).message(direction).layout(version).slots
        return direction == "response" and any(slot.name == "throttle_time_ms" for slot in slots)


def quota(config: Quota, message: Message, roll: Roll) -> Effects:
    """Throttle the client; no random draw.

    Raises:
        Unable: The message has no throttle_time_ms.
    """
    values = message.values()
    if message.direction == "request" or "throttle_time_ms" not in values:
        raise Unable(f"a {message.direction} without throttle_time_ms")
    ms = config.throttle // TIMES["ms"]
    changed = Become(message.encoded(values | {"throttle_time_ms": ms}), f"throttle_time_ms={ms}")
    return (changed, Stall("request", config.throttle)) if config.mute else (changed,)
