"""How many bytes have come in on a socket: the kernel counts them, so that the proxy need not."""

from __future__ import annotations

import socket
import struct
import sys
from typing import Final

_RECEIVED: Final = 128
"""Offset of tcpi_bytes_received in struct tcp_info (linux/tcp.h, since Linux 4.1)."""


def received(transport_socket: socket.socket | None) -> int:
    """Bytes received by a TCP socket so far; with TLS as they came. 0 if the system does not say.

    The end of what the other side sends counts as one, as in TCP's sequence numbers.

    >>> received(None)
    0
    """
    if transport_socket is None or sys.platform != "linux":
        return 0
    try:
        info = transport_socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED + 8)
    except OSError:  # closed meanwhile
        return 0
    return int(struct.unpack_from("=Q", info, _RECEIVED)[0]) if len(info) >= _RECEIVED + 8 else 0
