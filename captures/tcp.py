"""TCP/IP headers: synthesised for the two directions of a conversation, and parsed.

Layout: RFC 791, 8200, 9293. Every header of ours bears the right IP checksum. A sum over the payload
would cost more than all else, so the TCP checksum is that of the pseudo header alone, as in captures
on a host whose network card does the rest. Neither Wireshark nor scapy verifies it unless told to;
Wireshark calls it partial then (from 4.2; older ones call it bad).
"""

from __future__ import annotations

import struct
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton
from typing import Final, NamedTuple

Endpoint = tuple[str, int]
"""IP address and port."""

LINKTYPE_RAW: Final = 101
"""Packets that begin with an IPv4 or IPv6 header."""

FIN: Final = 0x01
SYN: Final = 0x02
RST: Final = 0x04
PSH: Final = 0x08
ACK: Final = 0x10

SEGMENT: Final = 65_472
"""Bytes of payload in a packet at most: with any of our headers it is below 65,535."""

HANDSHAKE: Final = 4
"""Packets that `FlowHeaders.handshake` makes."""

_V4 = struct.Struct(">HHIHH12sIIHHHH")
_V6 = struct.Struct(">IHH36sIIHHHH")
_SYN_OPTIONS: Final = bytes.fromhex("0204ffc0 0103030e")
"""Maximum segment size 65,472; windows are times 2**14, so a window of ours is 1 GiB."""
_WINDOW: Final = 0xFFFF
_MASK: Final = 0xFFFFFFFF


class Half:
    """One direction of a conversation: `seq` is the number of the byte that comes next."""

    __slots__ = ("_acked", "_addresses", "_ip_sum", "_six", "_tcp_sum", "peer", "seq")
    peer: Half

    def __init__(self, source: Endpoint, target: Endpoint, seq: int) -> None:
        self.seq = seq
        self._acked = -1
        first, second = _packed(source[0]), _packed(target[0])
        self._six = len(first) == 16 or len(second) == 16
        if self._six:
            first, second = (
                b"\0" * 10 + b"\xff\xff" + ip if len(ip) == 4 else ip for ip in (first, second)
            )
        self._addresses = first + second + struct.pack(">HH", source[1], target[1])
        addresses = sum(struct.unpack(f">{len(first)}H", first + second))
        self._tcp_sum = addresses + 6
        self._ip_sum = _folded(addresses + 0x4500 + 0x4000 + 0x4006)

    def header(self, length: int, flags: int = PSH | ACK, options: bytes = b"") -> bytes:
        """The IP and TCP headers of the next segment, with so many bytes of payload."""
        seq, ack = self.seq, self.peer.seq if flags & ACK else 0
        self.seq = (seq + length) & _MASK
        self._acked = ack
        return self._pack(seq, ack, length, flags, options)

    def control(self, flags: int, options: bytes = b"") -> bytes:
        """The headers of a SYN or FIN, which count as one byte, or of an RST."""
        headers = self.header(0, flags, options)
        if flags & (SYN | FIN):
            self.seq = (self.seq + 1) & _MASK
        return headers

    def remark(self) -> bytes:
        """The headers of an empty ACK. It repeats no ACK number: that would seem to report a loss.

        An older number is always allowed, and means nothing (RFC 9293, 3.10.7.4).
        """
        ack = self.peer.seq
        if ack == self._acked:
            ack = (ack - 1) & _MASK
        self._acked = ack
        return self._pack(self.seq, ack, 0, ACK, b"")

    def _pack(self, seq: int, ack: int, length: int, flags: int, options: bytes) -> bytes:
        length += 20 + len(options)
        word = (20 + len(options)) << 10 | flags
        pseudo = (self._tcp_sum + length - 1) % 0xFFFF + 1  # `_folded`, at once
        if self._six:
            return _V6.pack(
                0x60000000, length, 0x0640, self._addresses,
                seq, ack, word, _WINDOW, pseudo, 0,
            ) + options  # fmt: skip
        length += 20
        total = self._ip_sum + length
        checksum = ~(total + (total >> 16)) & 0xFFFF
        return _V4.pack(
            0x4500, length, 0x4000, 0x4006, checksum, self._addresses,
            seq, ack, word, _WINDOW, pseudo, 0,
        ) + options  # fmt: skip


class FlowHeaders:
    """The headers of a conversation, from the handshake to the end.

    Raises OSError if an address is not a numeric IP address.

    >>> flow = FlowHeaders(("10.0.0.1", 50000), ("10.0.0.2", 9092), 7)
    >>> [parse(LINKTYPE_RAW, headers).flags for headers in flow.handshake()]
    [2, 18, 16, 16]
    >>> parse(LINKTYPE_RAW, flow.request.header(4) + b"data")[2:]
    (8, 8, 24, b'data')
    """

    def __init__(self, client: Endpoint, server: Endpoint, isn: int) -> None:
        self.request = Half(client, server, isn & _MASK)
        self.response = Half(server, client, isn & _MASK)
        self.request.peer, self.response.peer = self.response, self.request

    def handshake(self) -> list[bytes]:
        """SYN, SYN and ACK, ACK; and a remark, as the window in a SYN is never scaled (RFC 7323).

        Wireshark would call that one full at the client's 65,535th byte, if no answer came before.
        """
        return [
            self.request.control(SYN, _SYN_OPTIONS),
            self.response.control(SYN | ACK, _SYN_OPTIONS),
            self.request.control(ACK),
            self.response.remark(),
        ]

    def farewell(self, reset: bool) -> list[bytes]:
        """FIN both ways and the last ACK, or an RST."""
        if reset:
            return [self.request.control(RST | ACK)]
        return [
            self.request.control(FIN | ACK),
            self.response.control(FIN | ACK),
            self.request.control(ACK),
        ]


def _packed(host: str) -> bytes:
    host = host.partition("%")[0]  # a link-local address may name its interface
    return inet_pton(AF_INET6 if ":" in host else AF_INET, host)


def _folded(total: int) -> int:
    """A sum of 16 bit words in ones' complement (RFC 1071).

    >>> hex(_folded(0x2FFFF))
    '0x2'
    """
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


# parse

_LINK_HEADERS: Final = {0: 4, 1: 14, 101: 0, 108: 4, 113: 16, 228: 0, 229: 0, 276: 20}
"""By link type: bytes before the IP header (loopback, Ethernet, raw IP, Linux "any" v1 and v2)."""
_ETHERNET: Final = 1
_VLAN: Final = (0x8100, 0x88A8)
_EXTENSIONS: Final = (0, 43, 60)
"""IPv6 extension headers to step over: hop-by-hop, routing, destination options."""


class Segment(NamedTuple):
    """A TCP segment; `seq` is that of its first byte of payload, or of its SYN."""

    source: Endpoint
    target: Endpoint
    seq: int
    ack: int
    flags: int
    payload: bytes


def parse(linktype: int, data: bytes) -> Segment | None:
    """The TCP segment in a captured packet; None if there is none, or only a fragment of one."""
    try:
        at = _LINK_HEADERS[linktype]
        if linktype == _ETHERNET:
            while struct.unpack_from(">H", data, at - 2)[0] in _VLAN:
                at += 4
        version = data[at] >> 4
        if version == 4:
            return _parse_v4(data, at)
        return _parse_v6(data, at) if version == 6 else None
    except (LookupError, ValueError, struct.error):  # too short
        return None


def _parse_v4(data: bytes, at: int) -> Segment | None:
    first, length, fragment, protocol = struct.unpack_from(">BxHxxHxB", data, at)
    header = (first & 15) * 4
    if protocol != 6 or fragment & 0x3FFF or header < 20:
        return None
    # a length of 0: the network card was to split it (segmentation offload)
    end = at + length if length else len(data)
    source, target = inet_ntop(AF_INET, data[at + 12 : at + 16]), data[at + 16 : at + 20]
    return _parse_tcp(data, at + header, end, source, inet_ntop(AF_INET, target))


def _parse_v6(data: bytes, at: int) -> Segment | None:
    length, protocol = struct.unpack_from(">HB", data, at + 4)
    source, target = data[at + 8 : at + 24], data[at + 24 : at + 40]
    at += 40
    end = at + length if length else len(data)
    while protocol in _EXTENSIONS:
        protocol, at = data[at], at + 8 + data[at + 1] * 8
    if protocol != 6 or len(target) < 16:
        return None
    return _parse_tcp(data, at, end, inet_ntop(AF_INET6, source), inet_ntop(AF_INET6, target))


def _parse_tcp(data: bytes, at: int, end: int, source: str, target: str) -> Segment | None:
    from_port, to_port, seq, ack, word = struct.unpack_from(">HHIIH", data, at)
    header = (word >> 12) * 4
    if header < 20 or at + header > len(data):
        return None
    return Segment(
        (source, from_port), (target, to_port), seq, ack, word & 0xFF, data[at + header : end]
    )
