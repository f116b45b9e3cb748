"""The kernel's counters of a TCP socket, so that the proxy need not count."""

from __future__ import annotations

import socket
import struct
import sys
from typing import Final

# offsets in struct tcp_info (linux/tcp.h, since Linux 4.1)
_STATE: Final = 0
_ACKED: Final = 120
_RECEIVED: Final = 128
_SIZE: Final = _RECEIVED + 8

_CLOSE_WAIT: Final = 8
"""The peer has closed its side (TCP_CLOSE_WAIT in net/tcp_states.h)."""


def received(transport_socket: socket.socket | None) -> int:
    """Return the bytes that a TCP socket has received, encrypted ones with TLS; 0 if unknown.

    A FIN counts as one byte, as in TCP's sequence numbers.

    >>> received(None)
    0
    """
    return _number(_info(transport_socket), _RECEIVED)


def acknowledged(transport_socket: socket.socket | None) -> int:
    """Return the bytes that the peer's system has acknowledged; 0 if unknown."""
    return _number(_info(transport_socket), _ACKED)


def ended(transport_socket: socket.socket | None) -> bool:
    """Return whether the peer has sent its FIN, whether or not it was read; False if unknown."""
    info = _info(transport_socket)
    return bool(info) and info[_STATE] == _CLOSE_WAIT


def _info(transport_socket: socket.socket | None) -> bytes:
    if transport_socket is None or sys.platform != "linux":
        return b""
    try:
        info = transport_socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE)
    except OSError:  # closed meanwhile
        return b""
    return info if len(info) >= _SIZE else b""


def _number(info: bytes, offset: int) -> int:
    return int(struct.unpack_from("=Q", info, offset)[0]) if info else 0
