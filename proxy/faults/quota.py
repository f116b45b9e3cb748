"""`quota`: the client gets a response that tells it to wait (throttle_time_ms), and for that time the proxy
reads nothing from it, as a broker does whose quota is exceeded (KIP-219).

acks=0: has no response that could say it, so it is not throttled.
Order: kept; the response leaves at once.
In flight: as without it.
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
    """The client gets a response at once that tells it how long to wait, and for that time the proxy reads
    nothing from it, as a broker does whose quota is exceeded (KIP-219)."""

    throttle: Duration
    """What throttle_time_ms says; whole milliseconds."""
    mute: bool = True
    """Whether the connection is not read from for that time, as brokers since 2.0 do."""

    only_kafka: ClassVar = True

    def applies_to(self, key: int, direction: Direction, version: int) -> bool:
        """Whether it can be done to such a message."""
        slots = api(key).message(direction).layout(version).slots
        return direction == "response" and any(slot.name == "throttle_time_ms" for slot in slots)


def quota(config: Quota, message: Message, roll: Roll) -> Effects:
    """Throttle the client; nothing is left to chance. Raises Unable where no response says it."""
    values = message.values()
    if message.direction == "request" or "throttle_time_ms" not in values:
        raise Unable(f"a {message.direction} without throttle_time_ms")
    ms = config.throttle // TIMES["ms"]
    changed = Become(message.encoded(values | {"throttle_time_ms": ms}), f"throttle_time_ms={ms}")
    return (changed, Stall("request", config.throttle)) if config.mute else (changed,)
