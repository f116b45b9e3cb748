"""Node ids of brokers by their addresses, for captures that do not name the broker of a connection.

Metadata names each broker's host and port: a connection to just that address is one to that broker. Under
another host name or port the broker is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.context.reading import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import METADATA

KEYS: Final = (METADATA,)
"""Who teaches them."""


class Brokers:
    """The brokers of one cluster, by their addresses as clients are told them."""

    def __init__(self) -> None:
        self.nodes: Memory[str, int | None] = Memory()
        """By address; None: it was said of several brokers."""
        self.cluster: str | None = None
        """The id of the cluster that was heard of last."""
        self.several = False
        """Whether there was more than one cluster: then an address says nothing."""

    def learn(self, exchange: Exchange) -> None:
        """Take what a Metadata response says."""
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
        """Take nodes by address that somebody has learnt before."""
        self.nodes.update(nodes)

    def known(self) -> dict[str, int]:
        """Nodes by address; none where there are several clusters."""
        if self.several:
            return {}
        return {address: node for address, node in self.nodes.items() if node is not None}

    def node(self, exchange: Exchange) -> int | None:
        """The broker that was asked; None: not known, or of one among several clusters."""
        if exchange.broker is not None or self.several:
            return exchange.broker
        return self.nodes.get(exchange.server_address)
