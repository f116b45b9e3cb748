"""What only scapy can read: the IP packet that is the innermost in a packet of any link type.

Importing this raises ImportError where scapy is not installed.
"""

from __future__ import annotations

import logging
from typing import Any

# it warns of routes and interfaces, which nobody asked for
logging.getLogger("scapy").setLevel(logging.ERROR)

from scapy.config import conf  # noqa: E402
from scapy.contrib import mpls  # noqa: E402
from scapy.layers import dot11, inet, inet6, l2, ppp, vxlan  # noqa: E402
from scapy.packet import Packet  # noqa: E402

from barnabas.captures.tcp.headers import LINKTYPE_RAW  # noqa: E402

LAYERS = (dot11, l2, mpls, ppp, vxlan)
"""Imported because scapy knows only the layers of modules that are."""


def innermost(linktype: int, data: bytes) -> tuple[int, bytes] | None:
    """The innermost IP packet with a TCP segment, as (link type, bytes); None if there is none."""
    try:
        layer: Any = conf.l2types[linktype](data)
    except Exception:  # noqa: BLE001 whatever a dissector makes of nonsense, or an unknown link type
        return None
    found = None
    while isinstance(layer, Packet) and layer.payload is not None:
        if isinstance(layer, (inet.IP, inet6.IPv6)) and inet.TCP in layer:
            found = layer
        if not layer.payload:
            break
        layer = layer.payload
    if found is None:
        return None
    return LINKTYPE_RAW, bytes(found.original)
