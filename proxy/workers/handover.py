"""Hands accepted sockets from one process to another, with what is known of them (unix(7), SCM_RIGHTS)."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Callable, Iterator
from typing import Final

from barnabas.proxy.network.listeners import Client, connection_name

_SIZE: Final = 4
"""Bytes of the size in front of what is known. The socket comes with the first of them."""

_PATIENCE: Final = 1.0
"""Seconds for the rest of a message of which a part has come."""


def link() -> tuple[socket.socket, socket.socket]:
    """Two ends; neither waits."""
    ends = socket.socketpair()
    for end in ends:
        end.setblocking(False)
    return ends


def hand(end: socket.socket, client: Client) -> bool:
    """Hand a client over; the socket here is closed then. False: there is no room just now.

    Raises OSError if nobody is there to take it.
    """
    about = pickle.dumps((client.number, client.address, client.node, client.leads_back))
    message = len(about).to_bytes(_SIZE) + about
    try:
        sent = socket.send_fds(end, [message], [client.socket.fileno()])
    except BlockingIOError:
        return False
    if sent < len(message):
        _wait(end)
        end.sendall(message[sent:])
        end.setblocking(False)
    client.socket.close()
    return True


def handed(end: socket.socket, lost: Callable[[str], None]) -> Iterator[Client]:
    """Those that wait here. lost: told of whom this process has no descriptor for, so that it is closed."""
    while True:
        try:
            size, sockets, _, _ = socket.recv_fds(end, _SIZE, 1)
        except BlockingIOError:
            return
        if not size:
            return
        _wait(end)
        with end.makefile("rb", buffering=0) as rest:
            size += rest.read(_SIZE - len(size))
            about = b""
            while len(about) < int.from_bytes(size):
                about += rest.read(int.from_bytes(size) - len(about))
        end.setblocking(False)
        number, address, node, leads_back = pickle.loads(about)  # noqa: S301 - from our own process
        if sockets:
            sock = socket.socket(fileno=sockets[0])
            sock.setblocking(False)
            yield Client(number, sock, address, node, leads_back)
        else:
            lost(connection_name(number, address))


def _wait(end: socket.socket) -> None:
    """A part of a message has come or gone: the rest is there, or will be at once."""
    end.settimeout(_PATIENCE)
