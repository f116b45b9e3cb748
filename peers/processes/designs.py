"""What a broker's process needs to know of a design: its elections, and how its broker is made and told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

from barnabas.peers.central_coordination.server import BrokerServer as CentralServer
from barnabas.peers.central_coordination.server import Session
from barnabas.peers.central_coordination.settings import BrokerSettings as CentralSettings
from barnabas.peers.consumer_rewrite.election import rank_for
from barnabas.peers.consumer_rewrite.server import BrokerServer as RewriteServer
from barnabas.peers.consumer_rewrite.settings import BrokerSettings as RewriteSettings
from barnabas.peers.listener import Address
from barnabas.peers.logs.answers import Led
from barnabas.peers.logs.broker import RECORDS, LogBroker
from barnabas.peers.registry import Elector, Leader, Rank, Registry
from barnabas.peers.registry.interface import no_rank
from barnabas.specs.drafts.central_coordination import RegisterConsumer
from barnabas.specs.keys import METADATA

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


class Made(NamedTuple):
    """A broker, the core in front of it, how it is told who lives and who leads, and how it ends."""

    server: RewriteServer | CentralServer
    front: LogBroker
    told: Callable[[Mapping[int, Address], Leaders], None]
    stop: Callable[[], Awaitable[None]]


class Design(NamedTuple):
    """A design. elections: how many; rank: of candidates in one; coordinates: what who wins them does."""

    elections: int
    rank: Callable[[int], Rank]
    coordinates: str
    make: Callable[[Parts], Made]


def _rewrite(parts: Parts) -> Made:
    fronts = []

    def front(core: Any) -> LogBroker:
        fronts.append(LogBroker(core, parts.logs, parts.brokers, waits=core.waits))
        return fronts[0]

    settings = RewriteSettings(slots=len(parts.electors), brokers=parts.brokers)
    server = RewriteServer(parts.node, settings, parts.registry, parts.watch, parts.ended, front)
    return Made(server, fronts[0], server.told, server.listener.stop)


def _central(parts: Parts) -> Made:
    fronts = []

    def front(core: Any) -> LogBroker:
        keys = RECORDS | {METADATA}
        becomes = RegisterConsumer.key
        fronts.append(LogBroker(core, parts.logs, parts.brokers, keys=keys, becomes=becomes))
        return fronts[0]

    session = Session(parts.registry, parts.electors[0])
    settings = CentralSettings()
    server = CentralServer(parts.node, settings, session, parts.watch, parts.ended, front)

    def told(nodes: Mapping[int, Address], leaders: Leaders) -> None:
        server.told(nodes, leaders[0])

    return Made(server, fronts[0], told, server.stop)


DESIGNS: Final = {
    "rewrite": Design(RewriteSettings().slots, rank_for, "the groups of slots", _rewrite),
    "central": Design(1, lambda election: no_rank, "all groups", _central),
}
