"""Define the layout of IPv4, IPv6 and TCP headers (RFC 791, 8200, 9293), and parse them.

`fast_headers` and `fast_reassembly` read the plain form of these headers faster, from the same layout.
"""

from __future__ import annotations

import functools
import struct
from socket import AF_INET, AF_INET6, inet_ntop
from typing import Final, NamedTuple

from barnabas.captures.host_port import Endpoint

LINKTYPE_RAW: Final = 101
"""Packets that begin with an IPv4 or IPv6 header."""

FIN: Final = 0x01
SYN: Final = 0x02
RST: Final = 0x04
PSH: Final = 0x08
ACK: Final = 0x10

ETHERNET: Final = 1
FIXED: Final = {0: 4, 12: 0, 14: 0, 101: 0, 108: 4, 228: 0, 229: 0}
"""By link type: bytes before the IP header (BSD loopback; raw IP has several link types)."""
TYPED: Final = {ETHERNET: (12, 14), 113: (14, 16), 276: (0, 20)}
"""By link type: offset of the EtherType, and offset of what follows it (Linux "any" v1 and v2)."""
LINKTYPES: Final = (*FIXED, *TYPED)
"""The link types that are parsed here."""
VLAN: Final = (0x8100, 0x88A8, 0x9100)
IPV4, IPV6 = 0x0800, 0x86DD
"""EtherTypes."""
IP: Final = (IPV4, IPV6)

IPV4_HEADER, IPV6_HEADER, TCP_HEADER = 20, 40, 20
"""Bytes of each header without options or extension headers."""
IPV4_FIELDS: Final = "BxHxxHxBxx"
"""Version and header length, datagram length, fragment word, protocol; both addresses follow."""
IPV4_PLAIN: Final = 0x45
"""The first byte of an IPv4 header without options."""
IPV6_FIELDS: Final = "IHBx"
"""Version in the highest bits, length of the rest of the datagram, next header; both addresses follow."""
TCP_NUMBERS: Final = "IIH"
"""Sequence number, ACK number, and the word with header length and flags; the ports precede them."""
TCP: Final = 6
"""The IP protocol number of TCP."""
DATA_OFFSET: Final = 12
"""Bits by which the word is shifted to get the length of the TCP header, in units of 4 bytes."""
FRAGMENT: Final = 0x3FFF
"""The bits of the IPv4 fragment word that are 0 in a whole datagram: more fragments, and the offset."""
MORE_FRAGMENTS: Final = 0x2000
_IDENTIFICATION: Final = 4
"""Offset of the identification that all fragments of an IPv4 datagram share."""
_V6_FRAGMENT: Final = 44
_AUTHENTICATION: Final = 51
_EXTENSIONS: Final = (0, 43, 60, _AUTHENTICATION)
"""IPv6 extension headers to skip: hop-by-hop, routing, destination options, authentication."""

_V4 = struct.Struct(f">{IPV4_FIELDS}4s4s")
_V6 = struct.Struct(f">{IPV6_FIELDS}16s16s")
_V6_PIECE = struct.Struct(">BxHI")
_TCP = struct.Struct(">HH" + TCP_NUMBERS)


class TcpSegment(NamedTuple):
    """A TCP segment; `seq` is the sequence number of its first payload byte, or of its SYN."""

    source: Endpoint
    target: Endpoint
    seq: int
    ack: int
    flags: int
    payload: bytes
    missing: int = 0
    """Payload bytes that the capture lacks because of its snap length."""


class Captured(NamedTuple):
    """A TCP segment with capture time, comments and packet number."""

    tcp: TcpSegment
    ts_ns: int
    comments: tuple[str, ...]
    packet: int


def network(linktype: int, data: bytes) -> tuple[int, int]:
    """Return the EtherType in a captured packet and the offset after it; EtherType 0: IP of either version.

    Raises:
        LookupError: The link type is not parsed here.
        struct.error: The packet is too short.
    """
    if linktype in FIXED:
        return 0, FIXED[linktype]
    at, end = TYPED[linktype]
    ethertype: int = struct.unpack_from(">H", data, at)[0]
    while ethertype in VLAN:
        ethertype = struct.unpack_from(">H", data, end + 2)[0]
        end += 4
    return ethertype, end


class Fragment(NamedTuple):
    """The part of a datagram that a packet holds."""

    name: tuple[bytes, ...]
    """Identifies the datagram."""
    offset: int
    more: bool
    """Whether more fragments follow."""


class Datagram(NamedTuple):
    """An IP header. The payload is from `start` to `end`, which may exceed the captured bytes."""

    source: bytes
    target: bytes
    protocol: int
    start: int
    end: int
    fragment: Fragment | None


def parse(linktype: int, data: bytes) -> TcpSegment | None:
    """Return the TCP segment in a captured packet; None without one, or for a fragment."""
    try:
        ethertype, at = network(linktype, data)
        ip = None if ethertype and ethertype not in IP else datagram(data, at)
        if ip is None or ip.protocol != TCP or ip.fragment is not None:
            return None
        return parse_tcp(data, ip)
    except (LookupError, ValueError, struct.error):  # too short
        return None


def datagram(data: bytes, at: int) -> Datagram | None:
    """Parse the IP header, of either version, at an offset; None without one.

    Raises LookupError or struct.error for too short a packet.
    """
    version = data[at] >> 4
    if version == 4:
        return _datagram_v4(data, at)
    return _datagram_v6(data, at) if version == 6 else None


def _datagram_v4(data: bytes, at: int) -> Datagram | None:
    first, length, fragment_word, protocol, source, target = _V4.unpack_from(data, at)
    header = (first & 15) * 4
    if header < IPV4_HEADER:
        return None
    # a length of 0: left to the network card (segmentation offload)
    end = at + length if length else len(data)
    fragment = None
    if fragment_word & FRAGMENT:
        name = (source, target, data[at + _IDENTIFICATION :][:2], bytes([protocol]))
        offset = (fragment_word & FRAGMENT & ~MORE_FRAGMENTS) * 8
        fragment = Fragment(name, offset, bool(fragment_word & MORE_FRAGMENTS))
    return Datagram(source, target, protocol, at + header, end, fragment)


def _datagram_v6(data: bytes, at: int) -> Datagram:
    _, length, protocol, source, target = _V6.unpack_from(data, at)
    at += IPV6_HEADER
    end = at + length if length else len(data)
    while protocol in _EXTENSIONS:
        unit = 4 if protocol == _AUTHENTICATION else 8
        protocol, at = data[at], at + 8 + data[at + 1] * unit
    fragment = None
    if protocol == _V6_FRAGMENT:
        protocol, fragment_word, number = _V6_PIECE.unpack_from(data, at)
        at += _V6_PIECE.size
        name = (source, target, number.to_bytes(4))
        fragment = Fragment(name, fragment_word & 0xFFF8, bool(fragment_word & 1))
    return Datagram(source, target, protocol, at, end, fragment)


@functools.lru_cache(1 << 16)
def address(packed: bytes) -> str:
    r"""Format a packed IP address. Raises ValueError for a length other than 4 or 16.

    >>> address(bytes([10, 0, 0, 1])), address(bytes(15) + b"\1")
    ('10.0.0.1', '::1')
    """
    return inet_ntop(AF_INET if len(packed) == 4 else AF_INET6, packed)


def parse_tcp(data: bytes, ip: Datagram) -> TcpSegment | None:
    """Return the TCP segment in a datagram. Raises struct.error if its header was not captured whole."""
    from_port, to_port, seq, ack, word = _TCP.unpack_from(data, ip.start)
    header = (word >> DATA_OFFSET) * 4
    start = ip.start + header
    if header < TCP_HEADER or start > len(data):
        return None
    return TcpSegment(
        (address(ip.source), from_port),
        (address(ip.target), to_port),
        seq,
        ack,
        word & 0xFF,
        data[start : ip.end],
        max(0, ip.end - max(start, len(data))),
    )
