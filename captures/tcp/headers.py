"""TCP/IP headers: synthesised for the two directions of a conversation, and parsed.

Layout: RFC 791, 8200, 9293. Every header of ours bears the right IP checksum. A sum over the payload
would cost more than all else, so the TCP checksum is that of the pseudo header alone, as in captures
on a host whose network card does the rest. Neither Wireshark nor scapy verifies it unless told to;
Wireshark calls it partial then (from 4.2; older ones call it bad).
"""

from __future__ import annotations

import functools
import struct
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton
from typing import Final, NamedTuple

Endpoint = tuple[str, int]
"""IP address and port."""


def endpoint_text(endpoint: Endpoint) -> str:
    """An address as people write it.

    >>> endpoint_text(("10.0.0.1", 9092)), endpoint_text(("::1", 9092))
    ('10.0.0.1:9092', '[::1]:9092')
    """
    host, port = endpoint
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def endpoint_of(text: str) -> Endpoint:
    """The same the other way round. Raises ValueError if it has no port.

    >>> endpoint_of("10.0.0.1:9092"), endpoint_of("[fe80::1]:9092")
    (('10.0.0.1', 9092), ('fe80::1', 9092))
    """
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def possible(endpoint: Endpoint) -> Endpoint:
    """The same, unless nobody can be reached there. Raises OSError, which says why.

    Resolvers raise errors of other kinds for such names, and take ports modulo 65,536.

    >>> possible(("a..b", 9092))
    Traceback (most recent call last):
    OSError: no host can have this name
    """
    host, port = endpoint
    if not 0 < port < 1 << 16:
        raise OSError(f"{port} is no port")
    if not host.isprintable() or " " in host:
        raise OSError("no host can have this name")
    try:
        host.encode("idna")
    except UnicodeError:
        raise OSError("no host can have this name") from None
    return endpoint


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
_V4_HEAD = struct.Struct(">BxHxxHxB")
_TCP_HEAD = struct.Struct(">HHIIH")
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

    def skip(self, length: int) -> None:
        """Bytes that are in no segment: they leave a gap."""
        self.seq = (self.seq + length) & _MASK

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
    >>> parse(LINKTYPE_RAW, flow.request.header(4) + b"data")[2:6]
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

ETHERNET: Final = 1
FIXED: Final = {0: 4, 12: 0, 14: 0, 101: 0, 108: 4, 228: 0, 229: 0}
"""By link type: bytes before the IP header (BSD loopback, raw IP under its several numbers)."""
TYPED: Final = {ETHERNET: (12, 14), 113: (14, 16), 276: (0, 20)}
"""By link type: where the EtherType stands, and what follows it (Linux "any" v1 and v2)."""
LINKTYPES: Final = (*FIXED, *TYPED)
"""The link types that are read here."""
VLAN: Final = (0x8100, 0x88A8, 0x9100)
IP: Final = (0x0800, 0x86DD)
EXTENSIONS: Final = (0, 43, 60)
"""IPv6 extension headers to step over: hop-by-hop, routing, destination options."""


class Segment(NamedTuple):
    """A TCP segment; `seq` is that of its first byte of payload, or of its SYN."""

    source: Endpoint
    target: Endpoint
    seq: int
    ack: int
    flags: int
    payload: bytes
    missing: int = 0
    """Bytes of payload that the capture does not have (its snap length)."""


def network(linktype: int, data: bytes) -> tuple[int, int]:
    """(EtherType, offset of what is behind it) in a captured packet; 0: IP, of either version.

    Raises LookupError for a link type that is not read here, struct.error for too short a packet.
    """
    if linktype in FIXED:
        return 0, FIXED[linktype]
    at, end = TYPED[linktype]
    kind: int = struct.unpack_from(">H", data, at)[0]
    while kind in VLAN:
        kind = struct.unpack_from(">H", data, end + 2)[0]
        end += 4
    return kind, end


def parse(linktype: int, data: bytes) -> Segment | None:
    """The TCP segment in a captured packet; None if there is none, or only a fragment of one."""
    try:
        kind, at = network(linktype, data)
        if kind and kind not in IP:
            return None
        version = data[at] >> 4
        if version == 4:
            return _parse_v4(data, at)
        return _parse_v6(data, at) if version == 6 else None
    except (LookupError, ValueError, struct.error):  # too short
        return None


def _parse_v4(data: bytes, at: int) -> Segment | None:
    first, length, fragment, protocol = _V4_HEAD.unpack_from(data, at)
    header = (first & 15) * 4
    if protocol != 6 or fragment & 0x3FFF or header < 20:
        return None
    # a length of 0: the network card was to split it (segmentation offload)
    end = at + length if length else len(data)
    source, target = address(data[at + 12 : at + 16]), address(data[at + 16 : at + 20])
    return parse_tcp(data, at + header, end, source, target)


def _parse_v6(data: bytes, at: int) -> Segment | None:
    length, protocol = struct.unpack_from(">HB", data, at + 4)
    source, target = data[at + 8 : at + 24], data[at + 24 : at + 40]
    at += 40
    end = at + length if length else len(data)
    while protocol in EXTENSIONS:
        protocol, at = data[at], at + 8 + data[at + 1] * 8
    if protocol != 6:
        return None
    return parse_tcp(data, at, end, address(source), address(target))


@functools.lru_cache(1 << 16)
def address(packed: bytes) -> str:
    """An IP address as text. Raises ValueError if it is of neither length.

    >>> address(bytes([10, 0, 0, 1])), address(bytes(15) + b"\\1")
    ('10.0.0.1', '::1')
    """
    return inet_ntop(AF_INET if len(packed) == 4 else AF_INET6, packed)


def parse_tcp(data: bytes, at: int, end: int, source: str, target: str) -> Segment | None:
    """The segment that begins here and goes on to `end`, which may be behind what was captured.

    Raises struct.error if not even its header was.
    """
    from_port, to_port, seq, ack, word = _TCP_HEAD.unpack_from(data, at)
    start = at + (word >> 12) * 4
    if start < at + 20 or start > len(data):
        return None
    return Segment(
        (source, from_port),
        (target, to_port),
        seq,
        ack,
        word & 0xFF,
        data[start:end],
        max(0, end - max(start, len(data))),
    )
