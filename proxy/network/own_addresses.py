"""Recognizes the proxy's own addresses, under any name: no broker has one of them.

A broker may advertise an address at which the proxy listens. A connection to that address would come back to
the proxy, which would connect again, and so on until no descriptors are left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Protocol

from barnabas.captures.host_port import possible
from barnabas.proxy.edits.topology import NOWHERE, Address, Node, same
from barnabas.proxy.network.sockets import address_of, resolved
from barnabas.proxy.network.this_machine import is_local, stands_at


class Listening(Protocol):
    """The listeners of one proxy."""

    bootstrap: Node

    def nodes(self) -> Iterable[Node]:
        """Return the nodes with listeners, the bootstrap broker first."""

    def upstreams(self, node: Node) -> Sequence[Address]:
        """Return the addresses at which a node may be reached."""


class OwnAddresses:
    """The addresses at which this process's proxies listen, and those at which they expect brokers.

    `proxies` returns the present proxies; `advertise` is the host that clients are told for all listeners.
    """

    def __init__(self, proxies: Callable[[], Iterable[Listening]], advertise: str | None) -> None:
        self._proxies = proxies
        self._advertise = advertise

    def listener(self, address: Address) -> Node | None:
        """Return the node whose listener an address leads to, as far as its text tells."""
        for node in self._nodes():
            if (
                node.listen[1] == address[1]
                and node.listen != NOWHERE
                and (self._is_told(address) or stands_at(node.listen, address))
            ):
                return node
        return None

    def is_here(self, address: Address) -> bool:
        """Return whether an address is one of this machine, or of the host that clients are told."""
        return is_local(address[0]) or self._is_told(address)

    def is_expected(self, port: int, discovered: Node) -> bool:
        """Return whether a broker of this machine is expected at a port: a known or a discovered one."""
        upstreams = (each.upstreams(node) for each in self._proxies() for node in each.nodes())
        return any(
            address[1] == port and self.is_here(address)
            for address in chain([discovered.upstream], *upstreams)
        )

    def may_lead_back(self, addresses: Iterable[Address]) -> bool:
        """Return whether a listener has the port of one of these: only then `leads_back` may be true."""
        ports = {port for _, port in addresses}
        return any(node.listen[1] in ports for node in self._nodes())

    async def leads_back(self, node: Node) -> bool:
        """Return whether a connection to a node reaches a listener that is not the node's own.

        The first listener of a proxy is followed to where it leads: brokers may advertise it, and proxies of
        toxiproxy's API may be chained. A broker's listener is no other broker's address.
        """
        proxies = list(self._proxies())
        firsts = {proxy.bootstrap for proxy in proxies}
        upstreams = {each: proxy.upstreams(each) for proxy in proxies for each in proxy.nodes()}
        visited, addresses = {node}, upstreams.get(node, ())
        while (listener := await self._listener_among(addresses)) is not None:
            if listener in visited or (node not in firsts and listener not in firsts):
                return True
            visited.add(listener)
            addresses = upstreams.get(listener, ())
        return False

    def _is_told(self, address: Address) -> bool:
        return self._advertise is not None and same((self._advertise, address[1]), address)

    def _nodes(self) -> Iterator[Node]:
        for proxy in self._proxies():
            yield from proxy.nodes()

    async def _listener_among(self, addresses: Iterable[Address]) -> Node | None:
        for address in addresses:
            for each in (address, *await _numeric(address)):
                if (listener := self.listener(each)) is not None:
                    return listener
        return None


async def _numeric(address: Address) -> list[Address]:
    """Return the addresses that a name resolves to; none if it does not resolve."""
    try:
        numeric = await resolved(asyncio.get_running_loop(), possible(address))
    except OSError:
        return []
    return [address_of(each) for _, each in numeric]
