"""TCP segments out of captured packets of every kind: the plain ones at once, fragments when they
are whole, tunnels and rare link types through scapy.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.tcp.fragments import Fragments
from barnabas.captures.tcp.headers import (
    EXTENSIONS,
    IP,
    LINKTYPES,
    Segment,
    address,
    network,
    parse,
    parse_tcp,
)

_TCP: Final = 6
_FRAGMENT: Final = 44
_AUTHENTICATION: Final = 51
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
    """What was found in the packets so far. `segment` is the only thing to call in between."""

    fragments: Fragments = field(default_factory=Fragments)
    fruitless: int = 0
    """Packets that gave no segment."""
    cut: int = 0
    """Segments of which the capture has only the beginning."""
    unread: Counter[int] = field(default_factory=Counter)
    """Packets by link type, or EtherType, that only scapy can read, which is not installed."""
    _scapy: Callable[[int, bytes], Any] | None = None

    @property
    def foreign(self) -> int:
        """Packets without TCP; not the fragments that wait for others."""
        return self.fruitless - self.fragments.kept

    def segment(self, linktype: int, data: bytes) -> Segment | None:
        """The TCP segment that is in a packet, or that its fragments have completed."""
        found = parse(linktype, data)
        if found is None:
            try:
                found = self._unusual(linktype, data)
            except (LookupError, ValueError, struct.error):  # too short
                found = None
            if found is None:
                self.fruitless += 1
                return None
        if found.missing:
            self.cut += 1
        return found

    def _unusual(self, linktype: int, data: bytes) -> Segment | None:
        if linktype not in LINKTYPES:
            return self._through_scapy(linktype, linktype, data)
        kind, at = network(linktype, data)
        if kind in _FRAMED or 0 < kind <= _LLC:
            return self._through_scapy(kind, linktype, data)
        if kind and kind not in IP:
            return None
        version = data[at] >> 4
        if version == 4:
            return self._v4(linktype, data, at)
        return self._v6(linktype, data, at) if version == 6 else None

    def _v4(self, linktype: int, data: bytes, at: int) -> Segment | None:
        first, length, name, fragment, protocol = struct.unpack_from(">BxHHHxB", data, at)
        start, end = at + (first & 15) * 4, min(at + length, len(data)) if length else len(data)
        if fragment & 0x3FFF:
            source, target = data[at + 12 : at + 16], data[at + 16 : at + 20]
            key = (source, target, protocol, name)
            offset = (fragment & 0x1FFF) * 8
            if protocol != _TCP or length > len(data) - at:
                return None
            return self._fragment(key, offset, bool(fragment & 0x2000), data[start:end])
        return self._tunnel(protocol, linktype, data, start)

    def _v6(self, linktype: int, data: bytes, at: int) -> Segment | None:
        length, protocol = struct.unpack_from(">HB", data, at + 4)
        source, target = data[at + 8 : at + 24], data[at + 24 : at + 40]
        end = at + 40 + length if length else len(data)
        at += 40
        while protocol in EXTENSIONS or protocol == _AUTHENTICATION:
            size = data[at + 1] * 4 + 8 if protocol == _AUTHENTICATION else data[at + 1] * 8 + 8
            protocol, at = data[at], at + size
        if protocol == _FRAGMENT:
            inner, place, name = struct.unpack_from(">BxHI", data, at)
            if inner != _TCP or end > len(data):
                return None
            key = (source, target, name)
            return self._fragment(key, place & 0xFFF8, bool(place & 1), data[at + 8 : end])
        if protocol == _TCP:
            return parse_tcp(data, at, end, address(source), address(target))
        return self._tunnel(protocol, linktype, data, at)

    def _fragment(
        self, key: tuple[Any, ...], offset: int, more: bool, data: bytes
    ) -> Segment | None:
        whole = self.fragments.add(key, offset, more, data)
        if whole is None:
            return None
        return parse_tcp(whole, 0, len(whole), address(key[0]), address(key[1]))

    def _tunnel(self, protocol: int, linktype: int, data: bytes, at: int) -> Segment | None:
        ports = struct.unpack_from(">HH", data, at) if protocol == _UDP else ()
        if protocol in _TUNNELS or any(port in _VXLAN for port in ports):
            return self._through_scapy(protocol, linktype, data)
        return None

    def _through_scapy(self, kind: int, linktype: int, data: bytes) -> Segment | None:
        if self._scapy is None:
            try:
                from barnabas.captures.tcp.through_scapy import innermost
            except ImportError:
                self.unread[kind] += 1
                return None
            self._scapy = innermost
        inner = self._scapy(linktype, data)
        return None if inner is None else parse(*inner)
