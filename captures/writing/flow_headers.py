"""Make TCP/IP headers for both directions of a conversation, from the handshake to the end.

IP checksums are correct. A checksum of the payload would cost more than everything else, so the TCP checksum
covers only the pseudo header, as in captures on a host with checksum offload. Wireshark and scapy do not
verify it by default; Wireshark calls it partial (from 4.2; older versions call it bad).
"""

from __future__ import annotations

import struct
from socket import AF_INET, AF_INET6, inet_pton
from typing import Final

from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.headers import (
    ACK,
    DATA_OFFSET,
    FIN,
    IPV4_HEADER,
    IPV4_PLAIN,
    PSH,
    RST,
    SYN,
    TCP,
    TCP_HEADER,
)

SEGMENT: Final = 65_472
"""Payload bytes of a packet at most: with any of these headers it stays below 65,535."""

HANDSHAKE: Final = 4
"""Packets of `FlowHeaders.handshake`."""

_V4_FRONT, _V6_FRONT, _REST = ">HHIHH12s", ">IHH36s", "IIHHHH"
"""Headers up to the ports, and from the sequence number on."""
_V4, _V6 = struct.Struct(_V4_FRONT + _REST), struct.Struct(_V6_FRONT + _REST)
_V4_FIRST: Final = IPV4_PLAIN << 8
_DONT_FRAGMENT: Final = 0x4000
_HOPS: Final = 64
_LENGTH_BITS: Final = DATA_OFFSET - 2
"""The shift for a length in bytes, which the word has in units of four bytes."""
_V4_LAST: Final = _HOPS << 8 | TCP
_V6_FIRST: Final = 6 << 28
_V6_LAST: Final = TCP << 8 | _HOPS
_SYN_OPTIONS: Final = bytes.fromhex("0204ffc0 0103030e")
"""Maximum segment size 65,472, and window scale 14, so that a window is 1 GiB."""
_WINDOW: Final = 0xFFFF
_MASK: Final = 0xFFFFFFFF


class Half:
    """One direction of a conversation: `seq` is the sequence number of the next byte."""

    __slots__ = ("_acked", "_addresses", "_ip_sum", "_six", "_tcp_sum", "numbers_at", "peer", "seq")
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
        self.numbers_at = struct.calcsize(_V6_FRONT if self._six else _V4_FRONT)
        """The offset of the sequence and ACK numbers in the headers."""
        self._addresses = first + second + struct.pack(">HH", source[1], target[1])
        addresses = sum(struct.unpack(f">{len(first)}H", first + second))
        self._tcp_sum = addresses + TCP
        self._ip_sum = _folded(addresses + _V4_FIRST + _DONT_FRAGMENT + _V4_LAST)

    def header(self, length: int, flags: int = PSH | ACK, options: bytes = b"") -> bytes:
        """Return the IP and TCP headers of the next segment, with `length` bytes of payload."""
        seq, ack = self.numbers(length)
        if not flags & ACK:
            self._acked = ack = 0
        return self._pack(seq, ack, length, flags, options)

    def numbers(self, length: int) -> tuple[int, int]:
        """Return the sequence and ACK numbers of the next segment, with `length` bytes of payload."""
        seq, self._acked = self.seq, self.peer.seq
        self.seq = (seq + length) & _MASK
        return seq, self._acked

    def skip(self, length: int) -> None:
        """Skip bytes that no segment has: they leave a gap."""
        self.seq = (self.seq + length) & _MASK

    def control(self, flags: int, options: bytes = b"") -> bytes:
        """Return the headers of a SYN or FIN, which count as one byte, or of an RST."""
        headers = self.header(0, flags, options)
        if flags & (SYN | FIN):
            self.seq = (self.seq + 1) & _MASK
        return headers

    def remark(self) -> bytes:
        """Return the headers of an empty ACK. It does not repeat an ACK number, which would indicate a loss.

        An older number is always allowed, and has no meaning (RFC 9293, 3.10.7.4).
        """
        ack = self.peer.seq
        if ack == self._acked:
            ack = (ack - 1) & _MASK
        self._acked = ack
        return self._pack(self.seq, ack, 0, ACK, b"")

    def _pack(self, seq: int, ack: int, length: int, flags: int, options: bytes) -> bytes:
        header = TCP_HEADER + len(options)
        length += header
        word = header << _LENGTH_BITS | flags
        pseudo = (self._tcp_sum + length - 1) % 0xFFFF + 1  # `_folded` in one step
        if self._six:
            return _V6.pack(
                _V6_FIRST, length, _V6_LAST, self._addresses,
                seq, ack, word, _WINDOW, pseudo, 0,
            ) + options  # fmt: skip
        length += IPV4_HEADER
        total = self._ip_sum + length
        checksum = ~(total + (total >> 16)) & 0xFFFF
        return _V4.pack(
            _V4_FIRST, length, _DONT_FRAGMENT, _V4_LAST, checksum, self._addresses,
            seq, ack, word, _WINDOW, pseudo, 0,
        ) + options  # fmt: skip


class FlowHeaders:
    """The headers of a conversation, from the handshake to the end.

    Raises OSError if an address is not a numeric IP address.

    >>> from barnabas.captures.tcp.headers import LINKTYPE_RAW, parse
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
        """Return the headers of SYN, SYN and ACK, and ACK, and of an empty ACK with a scaled window.

        The window in a SYN is never scaled (RFC 7323): without the empty ACK, Wireshark would report a full
        window at the client's 65,535th byte if no response came before.
        """
        return [
            self.request.control(SYN, _SYN_OPTIONS),
            self.response.control(SYN | ACK, _SYN_OPTIONS),
            self.request.control(ACK),
            self.response.remark(),
        ]

    def farewell(self, reset: bool) -> list[bytes]:
        """Return FIN both ways and the last ACK, or an RST."""
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
    """Return a ones' complement sum of 16-bit words (RFC 1071).

    >>> hex(_folded(0x2FFFF))
    '0x2'
    """
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total
