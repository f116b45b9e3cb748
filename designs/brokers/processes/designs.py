"""The parts of a design that a broker's process needs: its elections, and its broker.

Each design defines them in its own folder; the table has their names, so that no unused design is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from barnabas.designs.brokers.logs.answers import LedLogs
from barnabas.designs.brokers.registry import Elector, Rank, Registry
from barnabas.designs.brokers.server import BrokerServer
from barnabas.plugins import load


class DesignParts(NamedTuple):
    """The callbacks of a broker. watch: called with each action; ended: called when it has ended itself."""

    node: int
    brokers: int
    registry: Registry
    electors: Mapping[int, Elector]
    logs: LedLogs
    watch: Callable[[int, Any], None]
    ended: Callable[[int], None]


class Design(NamedTuple):
    """A design, and the broker that it makes, which has a `LogBroker` in front.

    elections: their number; rank: of candidates in an election; coordinates: the winners' duty, for log
    lines.
    """

    elections: int
    rank: Callable[[int], Rank]
    coordinates: str
    make: Callable[[DesignParts], BrokerServer[Any, Any]]


DESIGNS: Final = {
    "rewrite": "barnabas.designs.consumer_rewrite.process:DESIGN",
    "central": "barnabas.designs.central_coordination.process:DESIGN",
}
"""Where each design is defined."""


def design_of(name: str) -> Design:
    """Return the value of a design. Raises KeyError for an unknown name."""
    design: Design = load(f"design {name}", DESIGNS[name])
    return design
