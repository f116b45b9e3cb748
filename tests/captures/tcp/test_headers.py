"""Test headers of packets that other tools write, and invalid ones."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.tcp.fast_headers import fast_tcp_segment
from barnabas.captures.tcp.headers import TcpSegment, parse
from barnabas.captures.writing.flow_headers import FlowHeaders

FOUR = ("10.1.2.3", 50000), ("192.168.0.4", 9092)
SIX = ("fe80::1%eth0", 50000), ("2001:db8::2", 9092)


def parsed(data: bytes, linktype: int = 101) -> TcpSegment:
    segment = parse(linktype, data)
    assert segment is not None
    return segment


PLAIN = FlowHeaders(*FOUR, 7).request.header(4) + b"data"
PLAIN_SIX = FlowHeaders(*SIX, 7).request.header(4) + b"data"
ETHERNET = bytes(12) + b"\x08\x00"


@pytest.mark.parametrize(
    ("linktype", "link"),
    [
        (0, "02000000"),
        (1, "000000000000 000000000000 0800"),
        (1, "000000000000 000000000000 8100 0001 0800"),
        (1, "000000000000 000000000000 88a8 0001 8100 0002 0800"),
        (108, "00000002"),
        (113, "0000 0304 0006 0000000000000000 0800"),
        (228, ""),
        (276, "0800 0000 00000001 0304 00 06 0000000000000000"),
    ],
)
def test_link_types(linktype: int, link: str) -> None:
    assert parsed(bytes.fromhex(link) + PLAIN, linktype) == parsed(PLAIN)
    assert parsed(bytes.fromhex(link) + PLAIN_SIX, linktype) == parsed(PLAIN_SIX)


def test_offloaded_packets_have_no_length() -> None:
    assert parsed(PLAIN[:2] + b"\0\0" + PLAIN[4:]).payload == b"data"
    assert parsed(PLAIN_SIX[:4] + b"\0\0" + PLAIN_SIX[6:]).payload == b"data"


def test_extension_headers_are_stepped_over() -> None:
    extended = PLAIN_SIX[:6] + b"\0" + PLAIN_SIX[7:40]  # hop-by-hop, then destination options
    extended += bytes([60, 0]) + bytes(6) + bytes([51, 1]) + bytes(14)
    extended += bytes([6, 4]) + bytes(22) + PLAIN_SIX[40:]  # authentication counts words of 4 bytes
    length = struct.pack(">H", len(extended) - 40)
    assert parsed(extended[:4] + length + extended[6:]) == parsed(PLAIN_SIX)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" + PLAIN[1:],
        b"\x44" + PLAIN[1:],
        b"\x50" + PLAIN_SIX[1:],
        PLAIN[:6] + b"\x20\0" + PLAIN[8:],
        PLAIN[:6] + b"\0\1" + PLAIN[8:],
        PLAIN[:9] + b"\x11" + PLAIN[10:],
        PLAIN_SIX[:6] + b"\x11" + PLAIN_SIX[7:],
        PLAIN_SIX[:6] + b"\x2c" + PLAIN_SIX[7:],
        PLAIN[:32] + b"\x40" + PLAIN[33:],
    ],
)
def test_what_is_no_whole_segment(data: bytes) -> None:
    assert parse(101, data) is None
    assert fast_tcp_segment(101, data) is None


@given(
    st.sampled_from([0, 1, 9, 12, 101, 108, 113, 228, 276, 999]),
    st.binary(max_size=120)
    | st.builds(
        lambda data, at, value, cut: (data[:at] + bytes([value]) + data[at + 1 :])[:cut],
        st.sampled_from([link + data for link in (b"", ETHERNET) for data in (PLAIN, PLAIN_SIX)]),
        st.integers(0, 80),
        st.integers(0, 255),
        st.integers(0, 200),
    ),
)
def test_of_anything_the_fast_way_finds_the_same_or_nothing(linktype: int, data: bytes) -> None:
    found, segment = fast_tcp_segment(linktype, data), parse(linktype, data)
    if found is not None:
        assert segment is not None
        key, *rest, start, end = found
        assert key.endswith(segment.source[1].to_bytes(2) + segment.target[1].to_bytes(2))
        assert (*rest, data[start:end], 0) == segment[2:]
