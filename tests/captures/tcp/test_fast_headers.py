"""The usual form of packets: what is found at once is what the careful reading finds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.fast_headers import FastTcpSegment, fast_tcp_segment
from barnabas.captures.tcp.headers import TcpSegment
from barnabas.captures.tcp.packets import Packets
from tests.captures.tcp.test_packets import FOUR, SIX, WRAPPINGS, behind, cooked, ether, plain, same

USUAL = [("raw", 101, same, FOUR), ("raw 6", 101, same, SIX), ("ethernet", 1, ether, FOUR)]
USUAL += [("ethernet 6", 1, ether, SIX), ("cooked", 113, cooked, FOUR)]


def agree(linktype: int, data: bytes) -> FastTcpSegment | None:
    """What is found at once, once it is seen to be the same as with care."""
    found, segment = fast_tcp_segment(linktype, data), Packets().tcp_segment(linktype, data)
    if found is not None:
        assert segment is not None
        key, *rest, start, end = found
        ports = segment.source[1].to_bytes(2) + segment.target[1].to_bytes(2)
        assert key.endswith(ports)
        assert (*rest, data[start:end], 0) == segment[2:]
    return found


@pytest.mark.parametrize(
    ("linktype", "layers", "ends"),
    [what[1:] for what in WRAPPINGS],
    ids=[what[0] for what in WRAPPINGS],
)
def test_every_wrapping(linktype: int, layers: Any, ends: tuple[Endpoint, Endpoint]) -> None:
    for data in plain(ends):
        for packet in behind(layers)(data):
            agree(linktype, packet)


@pytest.mark.parametrize(
    ("linktype", "layers", "ends"), [what[1:] for what in USUAL], ids=[what[0] for what in USUAL]
)
def test_the_plain_ones_are_usual(
    linktype: int, layers: Any, ends: tuple[Endpoint, Endpoint]
) -> None:
    keys: dict[bytes, set[tuple[Endpoint, Endpoint]]] = {}
    for data in plain(ends):
        (packet,) = behind(layers)(data)
        found, segment = agree(linktype, packet), Packets().tcp_segment(linktype, packet)
        assert found is not None
        assert isinstance(segment, TcpSegment)
        keys.setdefault(found.key, set()).add((segment.source, segment.target))
    assert [len(ways) for ways in keys.values()] == [1, 1]  # a key for each direction


@given(
    st.sampled_from([0, 1, 9, 12, 101, 108, 113, 228, 276, 999]),
    st.binary(max_size=120)
    | st.builds(
        lambda data, at, value, cut: (data[:at] + bytes([value]) + data[at + 1 :])[:cut],
        st.sampled_from(plain() + [bytes(12) + b"\x08\x00" + data for data in plain()]),
        st.integers(0, 80),
        st.integers(0, 255),
        st.integers(0, 200),
    ),
)
def test_any_packet(linktype: int, data: bytes) -> None:
    agree(linktype, data)
