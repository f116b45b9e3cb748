"""Where everything stands in a packet of the usual form: what `tcp.parse` finds in it, much faster.

The usual form: IPv4 without options or IPv6 without extension headers, in one piece, captured whole.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from barnabas.captures.tcp.headers import FIXED, TYPED

_FOUR: Final = "BxHxxHxBxx12sIIH"
_V4 = struct.Struct(">" + _FOUR)
_V6 = struct.Struct(">IHBx36sIIH")
_PLACES: Final = {linktype: (at, at, b"", b"") for linktype, at in FIXED.items()} | {
    linktype: (at, end, b"\x08\x00", b"\x86\xdd") for linktype, (at, end) in TYPED.items()
}
"""By link type: where the EtherType begins, if there is one, where the IP header does, and what the
EtherType of either version has to be."""


class Headers(NamedTuple):
    """How a TCP segment over IPv4 begins in packets of a link type."""

    layout: struct.Struct
    """The EtherType's bytes, what the first byte of the IP header has, the datagram's length, fragment,
    protocol, key (see `Usual`), sequence numbers, and the word with the header's length and the flags."""
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


class Usual(NamedTuple):
    """A TCP segment within its packet."""

    key: bytes
    """Addresses and ports, as they stand there: the same for one direction of a conversation only."""
    seq: int
    ack: int
    flags: int
    start: int
    end: int
    """Its payload is from start to end."""


def usual(linktype: int, data: bytes) -> Usual | None:
    """What a packet of the usual form has; None: it may have anything else.

    >>> from barnabas.captures.tcp.headers import FlowHeaders
    >>> headers = FlowHeaders(("10.0.0.1", 50000), ("10.0.0.2", 9092), 7).request.header(4)
    >>> usual(101, headers + b"data")[1:]
    (7, 7, 24, 40, 44)
    """
    place = _PLACES.get(linktype)
    if place is None:
        return None
    typed, at, four, six = place
    if len(data) < at + 40:
        return None
    kind = data[typed : typed + len(four)]
    if data[at] == 0x45 and kind == four:
        _, length, fragment, protocol, key, seq, ack, word = _V4.unpack_from(data, at)
        start, end = at + 20, at + length
        if fragment & 0x3FFF:
            return None
    elif data[at] >> 4 == 6 and kind == six and len(data) >= at + 60:
        _, length, protocol, key, seq, ack, word = _V6.unpack_from(data, at)
        start, end = at + 40, at + 40 + length
    else:
        return None
    header = word >> 12
    start += header * 4
    if protocol != 6 or header < 5 or not length or not start <= end <= len(data):
        return None
    return Usual(key, seq, ack, word & 0xFF, start, end)
