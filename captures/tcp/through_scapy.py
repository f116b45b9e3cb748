"""Find the innermost IP packet in a packet of any link type, using scapy.

Importing this module raises ImportError if scapy is not installed.
"""

from __future__ import annotations

import logging
from typing import Any

# scapy warns about routes and interfaces, which are irrelevant here
logging.getLogger("scapy").setLevel(logging.ERROR)

from scapy.config import conf  # noqa: E402
from scapy.contrib import mpls  # noqa: E402
from scapy.layers import dot11, inet, inet6, l2, ppp, vxlan  # noqa: E402
from scapy.packet import Packet  # noqa: E402

from barnabas.captures.tcp.headers import LINKTYPE_RAW  # noqa: E402

LAYERS = (dot11, l2, mpls, ppp, vxlan)
"""Imported because scapy only dissects layers of imported modules."""


def innermost(linktype: int, data: bytes) -> tuple[int, bytes] | None:
    """Return link type and bytes of the innermost IP packet with a TCP segment; None without one."""
    try:
        layer: Any = conf.l2types[linktype](data)
    except Exception:  # noqa: BLE001 whatever a dissector makes of nonsense, or an unknown link type
        return None
    tcp_packet = None
    while isinstance(layer, Packet) and layer.payload is not None:
        if isinstance(layer, (inet.IP, inet6.IPv6)) and inet.TCP in layer:
            tcp_packet = layer
        if not layer.payload:
            break
        layer = layer.payload
    if tcp_packet is None:
        return None
    return LINKTYPE_RAW, bytes(tcp_packet.original)
