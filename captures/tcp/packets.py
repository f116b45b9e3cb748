"""The TCP segments in captured packets of every kind; scapy reads tunnels and rare link types."""

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
"""IP protocols with packets inside: IPv4, IPv6, GRE."""
_UDP: Final = 17
_VXLAN: Final = (4789, 8472)
"""UDP ports."""
_FRAMED: Final = (0x8847, 0x8848, 0x8864)
"""EtherTypes with IP inside: MPLS, PPPoE."""
_LLC: Final = 1500
"""An EtherType up to here is a length: IEEE 802.2, which may have IP inside."""


@dataclass(slots=True)
class Packets:
    """What was found in the packets so far. `tcp_segment` is the only thing to call in between."""

    fragments: Fragments = field(default_factory=Fragments)
    fruitless: int = 0
    """Packets that gave no TCP segment."""
    cut: int = 0
    """TCP segments of which the capture has only the beginning."""
    unread: Counter[int] = field(default_factory=Counter)
    """Packets by link type, or EtherType, that only scapy can read, which is not installed."""
    _scapy: Callable[[int, bytes], Any] | None = None

    @property
    def foreign(self) -> int:
        """Packets without TCP; not the fragments that wait for others."""
        return self.fruitless - self.fragments.kept

    def tcp_segment(self, linktype: int, data: bytes) -> TcpSegment | None:
        """The TCP segment that is in a packet, or that its fragments have completed."""
        try:
            found = self._tcp_segment(linktype, data)
        except (LookupError, ValueError, struct.error):  # too short
            found = None
        if found is None:
            self.fruitless += 1
            return None
        if found.missing:
            self.cut += 1
        return found

    def _tcp_segment(self, linktype: int, data: bytes) -> TcpSegment | None:
        if linktype not in LINKTYPES:
            return self._through_scapy(linktype, linktype, data)
        kind, at = network(linktype, data)
        if kind in _FRAMED or 0 < kind <= _LLC:
            return self._through_scapy(kind, linktype, data)
        ip = None if kind and kind not in IP else datagram(data, at)
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
