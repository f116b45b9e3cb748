"""Learn node ids of brokers by their addresses, for captures that do not name the broker of a connection.

Metadata lists each broker's host and port, so a connection to exactly that address goes to that broker. Under
another host name or port the broker is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import METADATA

KEYS: Final = (METADATA,)
"""The APIs that reveal them."""


class Brokers:
    """The brokers of one cluster, by their advertised addresses."""

    def __init__(self) -> None:
        self.nodes: Memory[str, int | None] = Memory()
        """Node ids by address; None: several brokers had the address."""
        self.cluster: str | None = None
        """The latest cluster id."""
        self.several = False
        """Whether there was more than one cluster id: then addresses identify no broker."""

    def learn(self, exchange: Exchange) -> None:
        """Learn from a Metadata response."""
        paths = ("brokers.node_id", "brokers.host", "brokers.port", "cluster_id")
        response = fields(exchange, "response", *paths)
        if not response:
            return
        cluster = response.get("cluster_id") or self.cluster  # from v2
        self.several = self.several or self.cluster not in (None, cluster)
        self.cluster = cluster
        for broker in response["brokers"]:
            address, node = endpoint_text((broker["host"], broker["port"])), broker["node_id"]
            if self.nodes.setdefault(address, node) != node:
                self.nodes[address] = None

    def recall(self, nodes: Mapping[str, int]) -> None:
        """Add node ids by address that were learned earlier."""
        self.nodes.update(nodes)

    def known(self) -> dict[str, int]:
        """Return node ids by address; empty if there are several clusters."""
        if self.several:
            return {}
        return {address: node for address, node in self.nodes.items() if node is not None}

    def node(self, exchange: Exchange) -> int | None:
        """Return the broker that received a request; None: unknown, or there are several clusters."""
        if exchange.broker is not None or self.several:
            return exchange.broker
        return self.nodes.get(exchange.server_address)
