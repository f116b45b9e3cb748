"""Hands accepted sockets from one process to another, with their data (unix(7), SCM_RIGHTS)."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Callable, Iterator
from typing import Final

from barnabas.proxy.network.listeners import Client, connection_name

_SIZE: Final = 4
"""The bytes of the size before the data. The socket comes with the first of them."""

_PATIENCE: Final = 1.0
"""The timeout in seconds for the rest of a message."""


def link() -> tuple[socket.socket, socket.socket]:
    """Return the two ends of a non-blocking socket pair."""
    ends = socket.socketpair()
    for end in ends:
        end.setblocking(False)
    return ends


def hand(end: socket.socket, client: Client) -> bool:
    """Hand a client over and close the socket here; return False if there is no room now.

    Raises:
        OSError: The other end is closed.
    """
    data = pickle.dumps((client.number, client.address, client.node, client.leads_back))
    message = len(data).to_bytes(_SIZE) + data
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
    """Yield the clients that wait at this end.

    `lost` is called with the name of a connection for which this process has no descriptor.
    """
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
            data = b""
            while len(data) < int.from_bytes(size):
                data += rest.read(int.from_bytes(size) - len(data))
        end.setblocking(False)
        number, address, node, leads_back = pickle.loads(data)  # noqa: S301 - from our own process
        if sockets:
            sock = socket.socket(fileno=sockets[0])
            sock.setblocking(False)
            yield Client(number, sock, address, node, leads_back)
        else:
            lost(connection_name(number, address))


def _wait(end: socket.socket) -> None:
    """Set a timeout for the rest of a message whose first part has come or gone."""
    end.settimeout(_PATIENCE)
