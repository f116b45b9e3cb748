"""Parses the headers of packets of the usual form, as `headers.parse` does, and much faster.

The usual form: IPv4 without options or IPv6 without extension headers, in one piece, captured whole.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from barnabas.captures.tcp.headers import (
    DATA_OFFSET,
    FIXED,
    FRAGMENT,
    IPV4,
    IPV4_FIELDS,
    IPV4_HEADER,
    IPV4_PLAIN,
    IPV6,
    IPV6_FIELDS,
    IPV6_HEADER,
    TCP,
    TCP_HEADER,
    TCP_NUMBERS,
    TYPED,
)

_FOUR: Final = f"{IPV4_FIELDS}12s{TCP_NUMBERS}"
_V4 = struct.Struct(">" + _FOUR)
_V6 = struct.Struct(f">{IPV6_FIELDS}36s{TCP_NUMBERS}")
_PLACES: Final = {linktype: (at, at, b"", b"") for linktype, at in FIXED.items()} | {
    linktype: (at, end, IPV4.to_bytes(2), IPV6.to_bytes(2)) for linktype, (at, end) in TYPED.items()
}
"""By link type: where the EtherType begins, if there is one, where the IP header does, and what the
EtherType of either version has to be."""
LEAST: Final = IPV4_HEADER + TCP_HEADER
"""Bytes of the headers of IPv4 and TCP."""
LEAST_WORD: Final = TCP_HEADER // 4 << DATA_OFFSET
"""The word with the length of TCP's header is at least this."""


class Headers(NamedTuple):
    """How a TCP segment over IPv4 begins in packets of a link type."""

    layout: struct.Struct
    """The EtherType's bytes, what the first byte of the IP header has, the datagram's length, fragment,
    protocol, `FastTcpSegment.key`, sequence numbers, and the word with the header's length and the flags."""
    kind: bytes
    """The EtherType of IPv4; nothing where the link type has none."""
    before: int
    """Bytes before the IP header."""


V4: Final = {
    linktype: Headers(
        struct.Struct(f">{typed}x{len(four)}s{at - typed - len(four)}x{_FOUR}"), four, at
    )
    for linktype, (typed, at, four, _) in _PLACES.items()
}


class FastTcpSegment(NamedTuple):
    """A TCP segment within its packet."""

    key: bytes
    """Addresses and ports, as they stand there: the same for one direction of a conversation only."""
    seq: int
    ack: int
    flags: int
    start: int
    end: int
    """Its payload is from start to end."""


def fast_tcp_segment(linktype: int, data: bytes) -> FastTcpSegment | None:
    """What a packet of the usual form has; None: it may have anything else.

    >>> from barnabas.captures.writing.flow_headers import FlowHeaders
    >>> headers = FlowHeaders(("10.0.0.1", 50000), ("10.0.0.2", 9092), 7).request.header(4)
    >>> fast_tcp_segment(101, headers + b"data")[1:]
    (7, 7, 24, 40, 44)
    """
    place = _PLACES.get(linktype)
    if place is None:
        return None
    typed, at, four, six = place
    if len(data) < at + LEAST:
        return None
    kind = data[typed : typed + len(four)]
    if data[at] == IPV4_PLAIN and kind == four:
        _, length, fragment, protocol, key, seq, ack, word = _V4.unpack_from(data, at)
        start, end = at + IPV4_HEADER, at + length
        if fragment & FRAGMENT:
            return None
    elif data[at] >> 4 == 6 and kind == six and len(data) >= at + IPV6_HEADER + TCP_HEADER:
        _, length, protocol, key, seq, ack, word = _V6.unpack_from(data, at)
        start = at + IPV6_HEADER
        end = start + length
    else:
        return None
    start += (word >> DATA_OFFSET) * 4
    if protocol != TCP or word < LEAST_WORD or not length or not start <= end <= len(data):
        return None
    return FastTcpSegment(key, seq, ack, word & 0xFF, start, end)
