"""Which listener stands for which broker, learnt from responses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.wording import shorten
from barnabas.specs.broker_addresses import NodeKind, Resolve

Address = tuple[str, int]


Find = Callable[[int], Address | None]
"""Node id of a broker -> where clients reach it through the proxy; None if it is not known yet."""

LONGEST: Final = 80
"""Characters of a host that lines show."""

MOST: Final = 1000
"""Nodes that are listened for; a response that invents more costs its connection."""


@dataclass(slots=True, eq=False)
class Node:
    """A broker (or a controller), where it really is, and where the proxy listens for it."""

    kind: NodeKind | None
    """None for the bootstrap address, whose broker is not known."""
    id: int | None
    upstream: Address
    listen: Address

    @property
    def name(self) -> str:
        """How lines for a person name it."""
        return "bootstrap" if self.id is None else f"{self.kind} {self.id}"

    @property
    def place(self) -> str:
        """Where it really is, as such lines have it: a response may say anything."""
        host, port = self.upstream
        return endpoint_text((shorten(host, LONGEST), port))


NOWHERE: Final = "", 0
"""Where the proxy listens for a node for which another one does."""

EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104
"""What a listener on all addresses says of itself."""


Elsewhere = Callable[[Node], Address | None]
"""Where a node is reached through a proxy already; None if it is not."""


def same(one: Address, other: Address) -> bool:
    """Return whether two addresses are one, as far as their texts tell.

    >>> same(("localhost", 1), ("127.0.0.1", 1)), same(("a", 1), ("A", 1)), same(("a", 1), ("b", 1))
    (True, True, False)
    >>> same(("127.0.0.1", 1), ("::1", 1))
    False
    """
    hosts = {one[0].lower(), other[0].lower()}
    return one[1] == other[1] and (
        len(hosts) == 1 or ("localhost" in hosts and hosts < {"localhost", "127.0.0.1", "::1"})
    )


class NoPort(OSError):
    """No port is left in the range for a broker that was just discovered."""


class Topology:
    """The nodes of a cluster. `listen` is called for each new one and returns its listener.

    A node keeps its listener although its address changes or it leaves the cluster. Brokers and
    controllers are told apart: the ids of both may be the same (KIP-919).

    moved: told of a known node whose address has changed. missing: asked for a broker that is not known.
    """

    def __init__(
        self,
        listen: Callable[[Node], Address],
        moved: Callable[[Node], object] = lambda _: None,
        missing: Callable[[int], Node | None] = lambda _: None,
        elsewhere: Elsewhere = lambda _: None,
    ) -> None:
        self.nodes: dict[tuple[NodeKind, int], Node] = {}
        self._listen = listen
        self._moved = moved
        self._missing = missing
        self._elsewhere = elsewhere

    def node(self, kind: NodeKind, id: int, upstream: Address) -> Node:
        """The node of that id, met at this address; listened for if it is new. May raise OSError."""
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
        """Where it is listened for. Who listened elsewhere may be gone. May raise OSError."""
        place = self._elsewhere(node)
        if place is None and node.listen == NOWHERE:
            node.listen = self._listen(node)
        return place or node.listen

    def meet(self, node: Node) -> None:
        """A node as another process knows it."""
        if node.kind is not None and node.id is not None:
            self.nodes.setdefault((node.kind, node.id), node).upstream = node.upstream

    def broker(self, id: int) -> Node | None:
        """A broker that is known, here or elsewhere."""
        return self.nodes.get(("broker", id)) or self._missing(id)

    def resolver(self, reached_at: str, advertised: str | None = None) -> Resolve:
        """For a client that reached the proxy at this address: where it shall find each node.

        A listener on all addresses (0.0.0.0 or ::) is advertised as the address that the client used;
        any as `advertised`, if that is given. A link-local address is told with its scope, which is the
        name of this host's interface: it leads clients on this host back, and none elsewhere unless its
        interface has the same name. Without a scope it would lead nobody; for others there is `advertised`.
        """

        def resolve(kind: NodeKind, id: int, host: str, port: int) -> Address:
            return self._advertised(self.node(kind, id, (host, port)), reached_at, advertised)

        return resolve

    def finder(self, reached_at: str, advertised: str | None = None) -> Find:
        """For such a client: where it finds each broker that is known."""

        def find(id: int) -> Address | None:
            node = self.broker(id)
            return None if node is None else self._advertised(node, reached_at, advertised)

        return find

    def _advertised(self, node: Node, reached_at: str, advertised: str | None) -> Address:
        host, port = self.place(node)
        if advertised is not None:
            return advertised, port
        return (reached_at if host in EVERYWHERE else host), port
