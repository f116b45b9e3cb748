"""Knows which listener belongs to which broker, as learned from responses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.wording import shorten
from barnabas.specs.broker_addresses import NodeKind, Resolve

Address = tuple[str, int]


FindListener = Callable[[int], Address | None]
"""Node id of a broker -> the address at which clients reach it through the proxy; None if it is unknown."""

LONGEST: Final = 80
"""The longest host in lines for a person, in characters."""

MOST: Final = 1000
"""The most nodes with listeners; a response that exceeds it is withheld and closes its connection."""


@dataclass(slots=True, eq=False)
class Node:
    """A broker or controller, its own address, and the proxy's listener for it."""

    kind: NodeKind | None
    """None for the bootstrap address, whose broker is unknown."""
    id: int | None
    upstream: Address
    listen: Address

    @property
    def name(self) -> str:
        """Return the name of the node in lines for a person."""
        return "bootstrap" if self.id is None else f"{self.kind} {self.id}"

    @property
    def place(self) -> str:
        """Return the node's own address in such lines, shortened: a response may contain any host."""
        host, port = self.upstream
        return endpoint_text((shorten(host, LONGEST), port))


NOWHERE: Final = "", 0
"""The listener of a node without one of its own: another proxy leads to it."""

EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104
"""The hosts of listeners on all addresses."""


FindProxy = Callable[[Node], Address | None]
"""Node -> the address of a proxy that already leads to it; None if there is none."""


def same(address: Address, other: Address) -> bool:
    """Return whether two addresses are the same, as far as their texts show.

    >>> same(("localhost", 1), ("127.0.0.1", 1)), same(("a", 1), ("A", 1)), same(("a", 1), ("b", 1))
    (True, True, False)
    >>> same(("127.0.0.1", 1), ("::1", 1))
    False
    """
    hosts = {address[0].lower(), other[0].lower()}
    return address[1] == other[1] and (
        len(hosts) == 1 or ("localhost" in hosts and hosts < {"localhost", "127.0.0.1", "::1"})
    )


class NoPort(OSError):
    """The error that no port is free for a broker that was just discovered."""


class Topology:
    """The nodes of a cluster.

    A node keeps its listener even if its address changes or it leaves the cluster. Brokers and controllers
    are distinguished, since they may have the same ids (KIP-919).

    Args:
        listen: Opens the listener of a new node and returns its address.
        moved: Called for a known node whose address has changed.
        missing: Returns an unknown broker, if another process knows it.
        elsewhere: Returns the address of a proxy that already leads to a node.
    """

    def __init__(
        self,
        listen: Callable[[Node], Address],
        moved: Callable[[Node], object] = lambda _: None,
        missing: Callable[[int], Node | None] = lambda _: None,
        elsewhere: FindProxy = lambda _: None,
    ) -> None:
        self.nodes: dict[tuple[NodeKind, int], Node] = {}
        self._listen = listen
        self._moved = moved
        self._missing = missing
        self._elsewhere = elsewhere

    def node(self, kind: NodeKind, id: int, upstream: Address) -> Node:
        """Return the node with this id and address; a new node gets a listener.

        Raises:
            OSError: No listener can be opened.
        """
        node = self.nodes.get((kind, id))
        if node is None:
            node = Node(kind, id, upstream, NOWHERE)
            if len(self.nodes) >= MOST:
                raise NoPort(f"over {MOST} brokers: {kind} {id} at {node.place} gets no listener")
            self.place(node)
            self.nodes[kind, id] = node
        if node.upstream != upstream:
            node.upstream = upstream
            self._moved(node)
        return node

    def place(self, node: Node) -> Address:
        """Return the node's listener; open one if it has none and no other proxy listens for it.

        Raises:
            OSError: No listener can be opened.
        """
        address = self._elsewhere(node)
        if address is None and node.listen == NOWHERE:
            node.listen = self._listen(node)
        return address or node.listen

    def meet(self, node: Node) -> None:
        """Add or update a node that another process knows."""
        if node.kind is not None and node.id is not None:
            self.nodes.setdefault((node.kind, node.id), node).upstream = node.upstream

    def broker(self, id: int) -> Node | None:
        """Return a broker that this process or the supervisor knows; None if it is unknown."""
        return self.nodes.get(("broker", id)) or self._missing(id)

    def resolver(self, reached_at: str, advertised: str | None = None) -> Resolve:
        """Return a function that maps a node to the address that a client is told.

        The client reached the proxy at the address `reached_at`. A listener on all addresses (0.0.0.0 or ::)
        is advertised as that address; every listener as `advertised`, if it is given. A link-local address
        keeps its scope, the name of this host's interface. It leads clients on this host back, and other
        clients only if their interface has the same name. Without a scope it would lead nowhere; for other
        clients there is `advertised`.
        """

        def resolve(kind: NodeKind, id: int, host: str, port: int) -> Address:
            return self._advertised(self.node(kind, id, (host, port)), reached_at, advertised)

        return resolve

    def finder(self, reached_at: str, advertised: str | None = None) -> FindListener:
        """Return a function that maps a broker's id to the address that such a client is told."""

        def find(id: int) -> Address | None:
            node = self.broker(id)
            return None if node is None else self._advertised(node, reached_at, advertised)

        return find

    def _advertised(self, node: Node, reached_at: str, advertised: str | None) -> Address:
        host, port = self.place(node)
        if advertised is not None:
            return advertised, port
        return (reached_at if host in EVERYWHERE else host), port
