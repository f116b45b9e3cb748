"""Sockets on both sides: listens, reaches a broker, refuses a client."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any, Final

from barnabas.captures.host_port import possible
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.effects import Reject

_MAPPED: Final = "::ffff:"
"""The prefix with which an IPv6 socket shows an IPv4 address (RFC 4291, 2.5.5.2)."""

BACKLOG: Final = 1024
"""The most connections that wait to be accepted."""


async def dial(addresses: Sequence[Address], patience: float) -> tuple[socket.socket, str]:
    """Connect to the first of these addresses that accepts.

    Returns:
        The socket, and the host as certificates have it, without a scope.

    Raises:
        OSError: No address accepts within `patience` seconds each; the last error.
    """
    loop = asyncio.get_running_loop()
    problem: OSError = ConnectionRefusedError("no address")
    for host, port in addresses:
        try:
            async with asyncio.timeout(patience):
                for family, address in await resolved(loop, possible((host, port))):
                    sock = socket.socket(family, socket.SOCK_STREAM)
                    sock.setblocking(False)
                    try:
                        await _connected(loop, sock, address)
                        _refuse_itself(sock, address)
                    except OSError as failure:
                        sock.close()
                        problem = failure
                    except BaseException:
                        sock.close()
                        raise
                    else:
                        return sock, host.partition("%")[0]
        except TimeoutError:
            problem = TimeoutError(f"no answer in {patience:g} s")
        except OSError as failure:
            problem = failure
    raise problem


async def resolved(
    loop: asyncio.AbstractEventLoop, address: Address
) -> list[tuple[int, tuple[Any, ...]]]:
    """Return the addresses that a name resolves to, each with its family.

    Raises:
        OSError: The name does not resolve.
    """
    host, port = address
    if "%" in host:  # uvloop would drop the scope of IPv6; a numeric host needs no resolver
        entries = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )
    else:
        entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(family, socket_address) for family, _, _, _, socket_address in entries]


async def _connected(
    loop: asyncio.AbstractEventLoop, sock: socket.socket, address: tuple[Any, ...]
) -> None:
    """Connect a socket like a loop's `sock_connect`; uvloop's would drop the scope of IPv6.

    Raises OSError.
    """
    problem = sock.connect_ex(address)
    if problem == errno.EINPROGRESS:
        over = asyncio.Event()
        loop.add_writer(sock, over.set)
        try:
            await over.wait()
        finally:
            loop.remove_writer(sock)
        problem = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if problem:
        raise OSError(problem, os.strerror(problem))


def _refuse_itself(sock: socket.socket, address: tuple[Any, ...]) -> None:
    """Raise OSError if a socket is connected to itself.

    If nobody listens, the system may choose the dialled port as the source port.
    """
    if sock.getsockname()[:2] == address[:2]:
        # without a reset the port would stay in use for a minute, and the broker could not bind it
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))


async def turn_away(client: socket.socket, reject: Reject) -> None:
    """Refuse a client as a rule decided."""
    if reject.how == "hang":
        await asyncio.sleep(reject.at_most / 1e9)
    elif reject.how == "reset":
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def listen(address: Address) -> socket.socket:
    """Return a listening socket, in the scope that an IPv6 host may name.

    Raises:
        OSError: The address is unavailable.
    """
    host, port = address
    possible((host, port or 1))  # 0: the system chooses
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    socket_address = socket.getaddrinfo(
        host or None, port, family, socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0][4]
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(socket_address)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def address_of(name: tuple[Any, ...]) -> Address:
    """Return host and port of a socket's name for itself or its peer.

    IPv4 on an IPv6 socket is returned as IPv4. A link-local address keeps its scope, by the interface's name
    if it has one: without it nobody can listen or connect there (RFC 4007, 11).

    >>> address_of(("::ffff:127.0.0.1", 9092, 0, 0)), address_of(("fe80::1", 9092, 0, 1))
    (('127.0.0.1', 9092), ('fe80::1%lo', 9092))
    """
    host, port, *rest = name
    scope = rest[1] if rest else 0
    if host.startswith(_MAPPED) and "." in host:
        return host.removeprefix(_MAPPED), port
    if scope and "%" not in host:
        host = f"{host}%{_interface(scope)}"
    return host, port


def _interface(scope: int) -> str:
    try:
        return socket.if_indextoname(scope)
    except OSError:  # the interface has gone
        return str(scope)
