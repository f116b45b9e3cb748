"""Node ids of brokers: a capture of ours says them, in one of others they follow from addresses.

Metadata names each broker's host and port. Where a connection goes to just that address it is that
broker; under another name, or behind another port, nobody knows.
"""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.context.reading import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import METADATA


class Brokers:
    """The brokers of one cluster, by their addresses as clients are told them."""

    def __init__(self) -> None:
        self._nodes: Memory[str, int | None] = Memory()
        """None: it was said of several."""
        self._cluster: str | None = None
        self._several = False

    @property
    def forgotten(self) -> int:
        """How many were forgotten because there were too many."""
        return self._nodes.forgotten

    @property
    def nodes(self) -> dict[str, int | None]:
        """What is known of each address; None: it was said of several brokers."""
        return dict(self._nodes)

    @property
    def cluster(self) -> str | None:
        """The id of the cluster that was heard of last."""
        return self._cluster

    @property
    def several(self) -> bool:
        """Whether there was more than one cluster: then an address says nothing."""
        return self._several

    def learn(self, exchange: Exchange) -> None:
        """Take what a Metadata response says."""
        if exchange.key != METADATA:
            return
        paths = ("brokers.node_id", "brokers.host", "brokers.port", "cluster_id")
        response = fields(exchange, "response", *paths)
        if not response:
            return
        cluster = response.get("cluster_id") or self._cluster  # from v2
        self._several = self._several or self._cluster not in (None, cluster)
        self._cluster = cluster
        for broker in response["brokers"]:
            address, node = endpoint_text((broker["host"], broker["port"])), broker["node_id"]
            if self._nodes.setdefault(address, node) != node:
                self._nodes[address] = None

    def recall(self, nodes: Mapping[str, int]) -> None:
        """Take nodes by address that somebody has learnt before."""
        self._nodes.update(nodes)

    def known(self) -> dict[str, int]:
        """Nodes by address; none where there are several clusters."""
        if self._several:
            return {}
        return {address: node for address, node in self._nodes.items() if node is not None}

    def node(self, exchange: Exchange) -> int | None:
        """The broker that was asked; None: not known, or of one among several clusters."""
        if exchange.broker is not None or self._several:
            return exchange.broker
        return self._nodes.get(exchange.server_address)
