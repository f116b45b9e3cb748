"""A design as the process of a broker needs it: its elections, and how to make its broker.

Each design has its values in its own folder; the table has their places, so that nothing is imported unused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from barnabas.designs.brokers.logs.answers import Led
from barnabas.designs.brokers.registry import Elector, Rank, Registry
from barnabas.designs.brokers.server import BrokerServer
from barnabas.plugins import load


class Parts(NamedTuple):
    """The parts of a broker. watch: called with each action; ended: called when it has ended itself."""

    node: int
    brokers: int
    registry: Registry
    electors: Mapping[int, Elector]
    logs: Led
    watch: Callable[[int, Any], None]
    ended: Callable[[int], None]


class Design(NamedTuple):
    """A design, and the broker that it makes, which has a `LogBroker` in front.

    elections: how many; rank: of candidates in one; coordinates: what the winners coordinate, for log lines.
    """

    elections: int
    rank: Callable[[int], Rank]
    coordinates: str
    make: Callable[[Parts], BrokerServer[Any, Any]]


DESIGNS: Final = {
    "rewrite": "barnabas.designs.consumer_rewrite.process:DESIGN",
    "central": "barnabas.designs.central_coordination.process:DESIGN",
}
"""The place of each design's value."""


def design_of(name: str) -> Design:
    """Return the value of a design. Raises KeyError for an unknown name."""
    found: Design = load(f"design {name}", DESIGNS[name])
    return found
