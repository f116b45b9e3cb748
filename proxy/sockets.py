"""Sockets on both sides: listening, reaching a broker, turning a client away."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Sequence
from typing import Final

from proxy.effects import Reject
from proxy.topology import Address

BACKLOG: Final = 1024
"""Connections that wait to be accepted."""


async def dial(addresses: Sequence[Address], patience: float) -> tuple[socket.socket, str]:
    """A connection to the first of these that takes one, and its host.

    `patience`: seconds for each of them. Raises OSError, that of the last.
    """
    loop = asyncio.get_running_loop()
    problem: OSError = ConnectionRefusedError("no address")
    for host, port in addresses:
        try:
            async with asyncio.timeout(patience):
                for family, kind, protocol, _, address in await loop.getaddrinfo(
                    host, port, type=socket.SOCK_STREAM
                ):
                    sock = socket.socket(family, kind, protocol)
                    sock.setblocking(False)
                    try:
                        await loop.sock_connect(sock, address)
                    except OSError as failure:
                        sock.close()
                        problem = failure
                    except BaseException:
                        sock.close()
                        raise
                    else:
                        return sock, host
        except TimeoutError:
            problem = TimeoutError(f"no answer in {patience:g} s")
        except OSError as failure:
            problem = failure
    raise problem


async def turn_away(client: socket.socket, reject: Reject) -> None:
    """Turn a client away."""
    if reject.how == "hang":
        await asyncio.sleep(reject.at_most / 1e9)
    elif reject.how == "reset":
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def listen(address: Address) -> socket.socket:
    """A socket that listens there. Raises OSError."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def address_of(name: tuple[str, int] | tuple[str, int, int, int]) -> Address:
    """Host and port of what a socket says of itself or its peer."""
    return name[0], name[1]


def reason_of(problem: OSError) -> str:
    """What went wrong, in the system's words."""
    if isinstance(problem, ConnectionError) and problem.errno:
        return os.strerror(problem.errno)  # the loop has put a text of its own in its place
    return problem.strerror or str(problem) or type(problem).__name__
