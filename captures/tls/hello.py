"""Parse the two unencrypted messages of a TLS handshake: ClientHello and ServerHello.

Layout: RFC 8446, 4.1; RFC 5246, 7.4.1.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

CLIENT_HELLO: Final = 1
SERVER_HELLO: Final = 2

TLS_1_2: Final = 0x0303
TLS_1_3: Final = 0x0304

_SUPPORTED_VERSIONS: Final = 43


class NoHello(ValueError):
    """An error: the message is no such hello."""


class ServerHello(NamedTuple):
    """The server's choices."""

    random: bytes
    version: int
    suite: int
    compression: int


def client_random(message: bytes) -> bytes:
    """Return the random of a ClientHello with its header of four bytes. Raises NoHello."""
    if message[:1] != bytes([CLIENT_HELLO]) or len(message) < 38:
        raise NoHello
    return message[6:38]


def server_hello(message: bytes) -> ServerHello:
    """Parse a ServerHello with its header of four bytes. Raises NoHello."""
    try:
        message_type, version = struct.unpack_from(">B3xH", message)
        if message_type != SERVER_HELLO:
            raise NoHello
        at = 39 + message[38]
        suite, compression = struct.unpack_from(">HB", message, at)
        for extension, content in _extensions(message, at + 3):
            if extension == _SUPPORTED_VERSIONS:
                (version,) = struct.unpack(">H", content)
    except (IndexError, struct.error):
        raise NoHello from None
    return ServerHello(message[6:38], version, suite, compression)


def _extensions(message: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    if at < len(message):  # before TLS 1.3 there may be none
        (length,) = struct.unpack_from(">H", message, at)
        at += 2
        end = at + length
        while at < end:
            extension, length = struct.unpack_from(">HH", message, at)
            at += 4
            yield extension, message[at : at + length]
            at += length
