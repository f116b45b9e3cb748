"""What the process of a broker of the consumer rewrite needs: elections of slots, and its broker."""

from __future__ import annotations

from typing import Any, Final

from barnabas.designs.brokers.logs.broker import LogBroker
from barnabas.designs.brokers.processes.designs import Design, Made, Parts
from barnabas.designs.consumer_rewrite.peers.election import rank_for
from barnabas.designs.consumer_rewrite.peers.server import BrokerServer
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings


def _broker(parts: Parts) -> Made:
    fronts = []

    def front(core: Any) -> LogBroker:
        fronts.append(LogBroker(core, parts.logs, parts.brokers, waits=core.waits))
        return fronts[0]

    settings = BrokerSettings(slots=len(parts.electors), brokers=parts.brokers)
    server = BrokerServer(parts.node, settings, parts.registry, parts.watch, parts.ended, front)
    return Made(server, fronts[0], server.told, server.listener.stop)


DESIGN: Final = Design(BrokerSettings().slots, rank_for, "the groups of slots", _broker)
