"""The connections to brokers: their addresses, in turn, and TLS on both sides."""

from __future__ import annotations

import socket
import ssl

from barnabas.proxy.edits.topology import Address, Node
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.sockets import address_of, dial


class Upstream:
    """The brokers of a proxy, according to its options."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._turn = -1
        """The index of the bootstrap address that the last connection began with."""

    def addresses(self, node: Node | None) -> list[Address]:
        """Return the addresses at which a node may be reached, in turn; None is any node.

        Each bootstrap connection begins with another address, as clients do: an address that accepts and
        never answers must not be the first for all clients.
        """
        if node is not None and node.id is not None:
            return [node.upstream]
        bootstrap = self.options.bootstrap
        self._turn = (self._turn + 1) % len(bootstrap)
        return [*bootstrap[self._turn :], *bootstrap[: self._turn]]

    async def dial(self, node: Node) -> tuple[socket.socket, str]:
        """Connect to a node, and return the socket and the host of its certificate.

        Raises:
            OSError: The node cannot be reached.
        """
        return await dial(self.addresses(node), self.options.connect_timeout)

    def contexts(
        self, host: str, client: socket.socket
    ) -> tuple[ssl.SSLContext | None, tuple[ssl.SSLContext, str] | None]:
        """Return the TLS settings for the client and for the broker at a host, where TLS is used."""
        tls, options, context = self.options.tls, self.options, None
        if tls.client is not None:
            # the client may use any of these names, advertised or not
            here = address_of(client.getsockname())[0]
            names = (options.advertise, here, options.listen[0], host, "localhost", "127.0.0.1")
            context = tls.client(tuple(name for name in names if name))
        return context, None if tls.broker is None else (tls.broker, tls.server_name or host)
