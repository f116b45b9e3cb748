"""What the process of a broker needs to know of a design: its elections, and how its broker is made.

Each design has its values in its own folder; the table has their places, so that nothing is imported unused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from barnabas.designs.brokers.listener import Address, Listener
from barnabas.designs.brokers.logs.answers import Led
from barnabas.designs.brokers.logs.broker import LogBroker
from barnabas.designs.brokers.registry import Elector, Leader, Rank, Registry
from barnabas.plugins import load

Leaders = Mapping[int, Leader | None]
"""Who leads, by election."""


class Parts(NamedTuple):
    """What a broker is made of. watch: called with each of its actions; ended: when it has ended itself."""

    node: int
    brokers: int
    registry: Registry
    electors: Mapping[int, Elector]
    logs: Led
    watch: Callable[[int, Any], None]
    ended: Callable[[int], None]


class Server(Protocol):
    """A broker on asyncio."""

    listener: Listener[Any]

    async def start(self, address: Address = ...) -> None:
        """Listen."""


class Made(NamedTuple):
    """A broker, the core in front of it, how it is told who lives and who leads, and how it ends."""

    server: Server
    front: LogBroker
    told: Callable[[Mapping[int, Address], Leaders], None]
    stop: Callable[[], Awaitable[None]]


class Design(NamedTuple):
    """A design. elections: how many; rank: of candidates in one; coordinates: what who wins them does."""

    elections: int
    rank: Callable[[int], Rank]
    coordinates: str
    make: Callable[[Parts], Made]


DESIGNS: Final = {
    "rewrite": "barnabas.designs.consumer_rewrite.process:DESIGN",
    "central": "barnabas.designs.central_coordination.process:DESIGN",
}
"""The place of each design's value."""


def design_of(name: str) -> Design:
    """Return the value of a design. Raises KeyError for an unknown name."""
    found: Design = load(f"design {name}", DESIGNS[name])
    return found
