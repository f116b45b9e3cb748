"""Both endpoints of a conversation as bytes that are the same for its two directions."""

from __future__ import annotations

from socket import AF_INET, AF_INET6, inet_pton

from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.headers import TcpSegment, address


def ends_of(segment: TcpSegment) -> tuple[bytes, bool]:
    """Return addresses and ports, the lower endpoint first, and whether that is the sender.

    >>> from barnabas.captures.tcp.headers import TcpSegment
    >>> ends, forward = ends_of(TcpSegment(("10.0.0.2", 9092), ("10.0.0.1", 50000), 0, 0, 0, b""))
    >>> ends.hex(), forward
    ('0a000001c3500a0000022384', False)
    """
    source, target = _packed(segment.source), _packed(segment.target)
    return (source + target, True) if source <= target else (target + source, False)


def endpoints(ends: bytes) -> tuple[Endpoint, Endpoint]:
    """Return the two endpoints, the lower one first.

    >>> endpoints(bytes.fromhex("0a000001c3500a0000022384"))
    (('10.0.0.1', 50000), ('10.0.0.2', 9092))
    """
    half = len(ends) // 2
    return _endpoint(ends[:half]), _endpoint(ends[half:])


def _packed(end: Endpoint) -> bytes:
    host, port = end
    return inet_pton(AF_INET6 if ":" in host else AF_INET, host) + port.to_bytes(2)


def _endpoint(packed: bytes) -> Endpoint:
    return address(packed[:-2]), int.from_bytes(packed[-2:])
