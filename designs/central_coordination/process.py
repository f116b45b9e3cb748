"""What the process of a broker of central coordination needs: one election, and its broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.logs.broker import RECORDS, LogBroker
from barnabas.designs.brokers.processes.designs import Design, Leaders, Made, Parts
from barnabas.designs.brokers.registry.interface import no_rank
from barnabas.designs.central_coordination.peers.server import BrokerServer, Session
from barnabas.designs.central_coordination.peers.settings import BrokerSettings
from barnabas.designs.central_coordination.schemas import RegisterConsumer
from barnabas.specs.keys import METADATA


def _broker(parts: Parts) -> Made:
    fronts = []

    def front(core: Any) -> LogBroker:
        keys = RECORDS | {METADATA}
        becomes = RegisterConsumer.key
        fronts.append(LogBroker(core, parts.logs, parts.brokers, keys=keys, becomes=becomes))
        return fronts[0]

    session = Session(parts.registry, parts.electors[0])
    settings = BrokerSettings()
    server = BrokerServer(parts.node, settings, session, parts.watch, parts.ended, front)

    def told(nodes: Mapping[int, Address], leaders: Leaders) -> None:
        server.told(nodes, leaders[0])

    return Made(server, fronts[0], told, server.stop)


DESIGN: Final = Design(1, lambda election: no_rank, "all groups", _broker)
