"""The broker of central coordination for a process: one election, logs in front."""

from __future__ import annotations

from typing import Final

from barnabas.designs.brokers.logs.broker import RECORDS, LogBroker
from barnabas.designs.brokers.processes.designs import Design, DesignParts
from barnabas.designs.brokers.registry.interface import no_rank
from barnabas.designs.central_coordination.peers.server import BrokerServer
from barnabas.designs.central_coordination.peers.settings import BrokerSettings
from barnabas.designs.central_coordination.schemas import RegisterConsumer
from barnabas.specs.keys import METADATA


def _broker(parts: DesignParts) -> BrokerServer:
    return BrokerServer(
        parts.node,
        BrokerSettings(),
        parts.registry,
        parts.watch,
        parts.ended,
        lambda core: LogBroker(
            *(core, parts.logs, parts.brokers),
            keys=RECORDS | {METADATA},
            becomes=RegisterConsumer.key,
        ),
    )


DESIGN: Final = Design(1, lambda election: no_rank, "all groups", _broker)
