"""Make pcapng blocks as buffers: little-endian, one section, one interface with times in ns.

Layout: draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

import struct
from typing import Final

from barnabas.captures.files.pcapng import (
    AROUND,
    BYTE_ORDER,
    ENHANCED,
    ENHANCED_LEAST,
    FULL,
    IF_TSRESOL,
    INTERFACE,
    ISB_IFDROP,
    LAYOUTS,
    OPT_COMMENT,
    SECTION,
    SHB_USERAPPL,
    STATISTICS,
    Buffer,
)

_PIECE: Final = FULL + 3
"""Bytes of a comment in one option at most."""
_HEAD, _LENGTH, _EPB = LAYOUTS["<"]
PACKET_HEAD: Final = _EPB.size
"""Bytes of an enhanced block before the packet."""
PACKET_TIME: Final = struct.calcsize("<III")
"""The offset of the time in them, in two words."""
_PADDING: Final = (b"", b"\0\0\0", b"\0\0", b"\0")


def section(comment: str, application: str) -> bytes:
    """Return a Section Header Block; its length is unspecified, since the file is still being written."""
    options = comment_option(comment) + _option(SHB_USERAPPL, application.encode())
    return _block(SECTION, struct.pack("<IHHq", BYTE_ORDER, 1, 0, -1) + _ended(options))


def interface(linktype: int) -> bytes:
    """Return an Interface Description Block: no snap length, times in ns."""
    options = _option(IF_TSRESOL, b"\x09")
    return _block(INTERFACE, struct.pack("<HHI", linktype, 0, 0) + _ended(options))


def packet(ts_ns: int, headers: bytes, payload: Buffer, options: bytes = b"") -> tuple[Buffer, ...]:
    """Return an Enhanced Packet Block on interface 0, as buffers; the payload is not copied.

    `options` come from `comment_option`.

    >>> [len(buffer) for buffer in packet(0, b"head", b"payload")]
    [32, 7, 5]
    """
    size = len(headers) + len(payload)
    tail = _PADDING[size & 3]
    if options:
        tail += _ended(options)
    length = ENHANCED_LEAST + size + len(tail)
    head = _EPB.pack(ENHANCED, length, 0, ts_ns >> 32, ts_ns & 0xFFFFFFFF, size, size) + headers
    return head, payload, tail + _LENGTH.pack(length)


def statistics(ts_ns: int, comment: str, dropped: int | None = None) -> bytes:
    """Return an Interface Statistics Block: packets lost so far, or only a comment."""
    options = comment_option(comment)
    if dropped is not None:
        options += _option(ISB_IFDROP, struct.pack("<Q", dropped))
    head = struct.pack("<III", 0, ts_ns >> 32, ts_ns & 0xFFFFFFFF)
    return _block(STATISTICS, head + _ended(options))


def comment_option(text: str) -> bytes:
    r"""Return a comment as options: one, or several full ones if it is long.

    A lone surrogate is written as \uXXXX, which is the same text in JSON.
    """
    data = text.encode("utf-8", "backslashreplace")
    options = b""
    while len(data) >= FULL:
        end = min(_PIECE, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:  # not within a character
            end -= 1
        options += _option(OPT_COMMENT, data[:end])
        data = data[end:]
    return options + _option(OPT_COMMENT, data)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + _PADDING[len(value) & 3]


def _ended(options: bytes) -> bytes:
    return options + b"\0\0\0\0"


def _block(block_type: int, body: bytes) -> bytes:
    length = len(body) + AROUND
    return _HEAD.pack(block_type, length) + body + _LENGTH.pack(length)
