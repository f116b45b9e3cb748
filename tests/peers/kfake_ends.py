"""A request at which kfake ends."""

from __future__ import annotations

import contextlib
import socket
import struct


def end_kfake(bootstrap: str) -> None:
    """End the program's process by a request with an unknown API key: it panics."""
    host, port = bootstrap.split(",")[0].rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(struct.pack(">ihhih", 10, 9999, 0, 1, -1))
        connection.settimeout(20)
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
