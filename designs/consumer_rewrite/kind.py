"""The kind `rewrite` of `barnabas peers start`."""

from __future__ import annotations

from functools import partial
from typing import Final

from barnabas.cli.peers.kinds import BrokerKind
from barnabas.designs.brokers.start import start_design

KIND: Final = BrokerKind(
    "the consumer rewrite of 0.9 that never shipped: each broker a process, on ZooKeeper",
    "install barnabas with the extras 'apache,zookeeper'",
    partial(start_design, "rewrite"),
)
