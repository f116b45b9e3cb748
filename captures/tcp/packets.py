"""Extract TCP segments from captured packets of every kind; scapy reads tunnels and rare link types."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.tcp.fragments import Fragments
from barnabas.captures.tcp.headers import (
    IP,
    LINKTYPES,
    TCP,
    Datagram,
    Fragment,
    TcpSegment,
    datagram,
    network,
    parse,
    parse_tcp,
)

_TUNNELS: Final = (4, 41, 47)
"""IP protocols that carry packets: IPv4, IPv6, GRE."""
_UDP: Final = 17
_VXLAN: Final = (4789, 8472)
"""UDP ports."""
_FRAMED: Final = (0x8847, 0x8848, 0x8864)
"""EtherTypes that carry IP: MPLS, PPPoE."""
_LLC: Final = 1500
"""An EtherType up to here is the length of an IEEE 802.2 frame, which may carry IP."""


@dataclass(slots=True)
class Packets:
    """A parser of packets that counts what it could not use. Only call `tcp_segment`."""

    fragments: Fragments = field(default_factory=Fragments)
    fruitless: int = 0
    """Packets without a TCP segment."""
    cut: int = 0
    """TCP segments that the capture has only in part."""
    unread: Counter[int] = field(default_factory=Counter)
    """Packets that need scapy, which is not installed, by link type or EtherType."""
    _scapy: Callable[[int, bytes], Any] | None = None

    @property
    def foreign(self) -> int:
        """Return the number of packets without TCP, excluding fragments that wait for others."""
        return self.fruitless - self.fragments.incomplete

    def tcp_segment(self, linktype: int, data: bytes) -> TcpSegment | None:
        """Return the TCP segment in a packet, or the segment that its fragment completes."""
        try:
            tcp = self._tcp_segment(linktype, data)
        except (LookupError, ValueError, struct.error):  # too short
            tcp = None
        if tcp is None:
            self.fruitless += 1
            return None
        if tcp.missing:
            self.cut += 1
        return tcp

    def _tcp_segment(self, linktype: int, data: bytes) -> TcpSegment | None:
        if linktype not in LINKTYPES:
            return self._through_scapy(linktype, linktype, data)
        ethertype, at = network(linktype, data)
        if ethertype in _FRAMED or 0 < ethertype <= _LLC:
            return self._through_scapy(ethertype, linktype, data)
        ip = None if ethertype and ethertype not in IP else datagram(data, at)
        if ip is None:
            return None
        if ip.fragment is not None:
            return self._fragment(ip, ip.fragment, data)
        if ip.protocol == TCP:
            return parse_tcp(data, ip)
        return self._tunnel(ip.protocol, linktype, data, ip.start)

    def _fragment(self, ip: Datagram, piece: Fragment, data: bytes) -> TcpSegment | None:
        if ip.protocol != TCP or ip.end > len(data):
            return None
        whole = self.fragments.add(piece.name, piece.offset, piece.more, data[ip.start : ip.end])
        if whole is None:
            return None
        return parse_tcp(whole, ip._replace(start=0, end=len(whole)))

    def _tunnel(self, protocol: int, linktype: int, data: bytes, at: int) -> TcpSegment | None:
        ports = struct.unpack_from(">HH", data, at) if protocol == _UDP else ()
        if protocol in _TUNNELS or any(port in _VXLAN for port in ports):
            return self._through_scapy(protocol, linktype, data)
        return None

    def _through_scapy(self, kind: int, linktype: int, data: bytes) -> TcpSegment | None:
        scapy = self._scapy
        if scapy is None:
            try:
                from barnabas.captures.tcp.through_scapy import innermost
            except ImportError:
                self.unread[kind] += 1
                return None
            scapy = innermost
        inner = scapy(linktype, data)
        return None if inner is None else parse(*inner)
