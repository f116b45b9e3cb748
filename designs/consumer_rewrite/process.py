"""The broker of the consumer rewrite for a process: elections of slots, logs in front."""

from __future__ import annotations

from typing import Final

from barnabas.designs.brokers.logs.broker import LogBroker
from barnabas.designs.brokers.processes.designs import Design, DesignParts
from barnabas.designs.consumer_rewrite.peers.election import rank_for
from barnabas.designs.consumer_rewrite.peers.server import BrokerServer
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings


def _broker(parts: DesignParts) -> BrokerServer:
    return BrokerServer(
        parts.node,
        BrokerSettings(slots=len(parts.electors), brokers=parts.brokers),
        parts.registry,
        parts.watch,
        parts.ended,
        lambda core: LogBroker(core, parts.logs, parts.brokers, waits=core.waits),
    )


DESIGN: Final = Design(BrokerSettings().slots, rank_for, "the groups of slots", _broker)
