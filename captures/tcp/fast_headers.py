"""Parse the headers of plain packets: the same result as `headers.parse`, much faster.

A plain packet is IPv4 without options or IPv6 without extension headers, not fragmented, and captured whole.
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
"""By link type: offset of the EtherType (if there is one), offset of the IP header, and the EtherTypes of
IPv4 and IPv6."""
LEAST: Final = IPV4_HEADER + TCP_HEADER
"""Bytes of the shortest IPv4 and TCP headers."""
LEAST_WORD: Final = TCP_HEADER // 4 << DATA_OFFSET
"""The least value of the word that begins with the length of the TCP header."""


class Headers(NamedTuple):
    """The layout of an IPv4 packet with a TCP segment, for one link type."""

    layout: struct.Struct
    """The EtherType; of the IP header the first byte, the datagram's length, the fragment word and the
    protocol; `FastTcpSegment.key`; sequence and ACK numbers; and the word with TCP header length and
    flags."""
    kind: bytes
    """The EtherType of IPv4; empty for a link type without EtherType."""
    before: int
    """Bytes before the IP header."""


V4: Final = {
    linktype: Headers(
        struct.Struct(f">{typed}x{len(four)}s{at - typed - len(four)}x{_FOUR}"), four, at
    )
    for linktype, (typed, at, four, _) in _PLACES.items()
}


class FastTcpSegment(NamedTuple):
    """A TCP segment, described by its position in the packet."""

    key: bytes
    """Packed addresses and ports, which identify one direction of a conversation."""
    seq: int
    ack: int
    flags: int
    start: int
    end: int
    """The payload is `data[start:end]`."""


def fast_tcp_segment(linktype: int, data: bytes) -> FastTcpSegment | None:
    """Return the TCP segment of a plain packet; None for every other packet.

    >>> from barnabas.captures.writing.flow_headers import FlowHeaders
    >>> headers = FlowHeaders(("10.0.0.1", 50000), ("10.0.0.2", 9092), 7).request.header(4)
    >>> fast_tcp_segment(101, headers + b"data")[1:]
    (7, 7, 24, 40, 44)
    """
    layout = _PLACES.get(linktype)
    if layout is None:
        return None
    typed, at, four, six = layout
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
