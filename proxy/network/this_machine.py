"""Decides which addresses lead to this machine, and to a listener on it."""

from __future__ import annotations

import ipaddress
import socket
from typing import Final

from barnabas.proxy.edits.topology import EVERYWHERE, Address, same
from barnabas.proxy.network.sockets import address_of

_UNUSED_ADDRESSES: Final = {socket.AF_INET: "240.0.0.1", socket.AF_INET6: "100::1"}
"""Addresses that no machine has: reserved (RFC 1112, 4), and for discarding (RFC 6666)."""


def stands_at(listen: Address, address: Address) -> bool:
    """Return whether an address leads to a listener, as far as its text shows.

    A listener on all addresses is found at every address of this machine (0.0.0.0 only at those of IPv4).

    >>> stands_at(("0.0.0.0", 9), ("localhost", 9)), stands_at(("0.0.0.0", 9), ("b1", 9))
    (True, False)
    >>> stands_at(("127.0.0.1", 9), ("::1", 9)), stands_at(("::", 9), ("127.0.0.2", 9))
    (False, True)
    """
    (host, port), (at, its_port) = listen, _plain(address)
    if host not in EVERYWHERE:
        return same(listen, ("localhost" if at in EVERYWHERE else at, its_port))
    return port == its_port and is_local(at) and (host == "::" or ":" not in at)


def is_local(host: str) -> bool:
    """Return whether a host is this machine: one of its addresses, localhost, or its name.

    No name server is asked.

    >>> [is_local(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "b1.example", "240.0.0.1")]
    [True, True, True, True, False, False]
    """
    name = socket.gethostname().lower()
    if host.lower() in ("localhost", name, name.partition(".")[0]):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    if not _binds(family, host):
        return False
    # if any address can be bound (ip_nonlocal_bind), the routes decide
    return not _binds(family, _UNUSED_ADDRESSES[family]) or _is_source(family, host)


def _binds(family: socket.AddressFamily, host: str) -> bool:
    """Return whether a socket can be bound to an address."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(_socket_address(family, host))
        except OSError:
            return False
        return True


def _is_source(family: socket.AddressFamily, host: str) -> bool:
    """Return whether packets to an address would have it as their source. No packet is sent."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(socket_address := _socket_address(family, host))
        except OSError:
            return False
        return bool(probe.getsockname()[0] == socket_address[0])


def _socket_address(family: socket.AddressFamily, host: str) -> tuple[object, ...]:
    """Return an address in the form of sockets, with the scope that it may name."""
    flags = socket.AI_NUMERICHOST
    socket_address: tuple[object, ...] = socket.getaddrinfo(
        host, 9, family, socket.SOCK_DGRAM, flags=flags
    )[0][4]
    return socket_address


def _plain(address: Address) -> Address:
    """Return an IPv4 address that is written as IPv6 as IPv4."""
    host, port = address_of((address[0].lower(), address[1]))
    return host, port
