"""Headers: what is built is parsed back; checksums; what others' packets may look like."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.tcp.headers import (
    ACK,
    FIN,
    PSH,
    RST,
    SEGMENT,
    SYN,
    FlowHeaders,
    Segment,
    parse,
)

FOUR = ("10.1.2.3", 50000), ("192.168.0.4", 9092)
SIX = ("fe80::1%eth0", 50000), ("2001:db8::2", 9092)
MIXED = ("10.1.2.3", 50000), ("::1", 9092)


def parsed(data: bytes, linktype: int = 101) -> Segment:
    segment = parse(linktype, data)
    assert segment is not None
    return segment


def ones(data: bytes) -> int:
    """The sum of RFC 1071, the slow way."""
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.mark.parametrize("ends", [FOUR, SIX, MIXED])
@given(isn=st.integers(0, 2**32 - 1), sizes=st.lists(st.integers(0, 300), max_size=6))
def test_numbers_go_on(
    ends: tuple[tuple[str, int], tuple[str, int]], isn: int, sizes: list[int]
) -> None:
    flow = FlowHeaders(*ends, isn)
    syn, synack, ack, remark = (parsed(headers) for headers in flow.handshake())
    assert (syn.flags, syn.seq, syn.ack) == (SYN, isn, 0)
    after = (isn + 1) % 2**32
    assert (synack.flags, synack.seq, synack.ack) == (SYN | ACK, isn, after)
    assert (ack.flags, ack.seq, ack.ack) == (ACK, after, after)
    assert (remark.flags, remark.seq, remark.ack) == (ACK, after, isn)
    assert (synack.source, synack.target) == (syn.target, syn.source)
    seq = after
    for size in sizes:
        found = parsed(flow.request.header(size) + bytes(size))
        assert (found.flags, found.seq, found.ack) == (PSH | ACK, seq, after)
        assert len(found.payload) == size
        seq = (seq + size) % 2**32
    answer = parsed(flow.response.header(1) + b"x")
    assert (answer.seq, answer.ack) == (after, seq)
    fin, fin_back, last = (parsed(headers) for headers in flow.farewell(False))
    assert (fin.flags, fin.seq) == (FIN | ACK, seq)
    assert (fin_back.flags, fin_back.ack) == (FIN | ACK, (seq + 1) % 2**32)
    assert (last.flags, last.ack) == (ACK, (after + 2) % 2**32)


def test_addresses() -> None:
    assert parsed(FlowHeaders(*FOUR, 0).request.header(0))[:2] == FOUR
    assert parsed(FlowHeaders(*SIX, 0).request.header(0))[:2] == (("fe80::1", 50000), SIX[1])
    assert parsed(FlowHeaders(*MIXED, 0).request.header(0)).source == ("::ffff:10.1.2.3", 50000)
    with pytest.raises(OSError, match="illegal IP address"):
        FlowHeaders(("localhost", 1), FOUR[1], 0)


def test_a_reset_comes_from_the_client() -> None:
    (headers,) = FlowHeaders(*FOUR, 0).farewell(True)
    assert (parsed(headers).flags, parsed(headers).source) == (RST | ACK, FOUR[0])


@given(st.integers(0, SEGMENT), st.integers(0, 65535), st.ip_addresses(v=4))
def test_the_ip_checksum_is_right(size: int, port: int, address: object) -> None:
    headers = FlowHeaders((str(address), port), FOUR[1], 0).request.header(size)
    assert ones(headers[:20]) == 0xFFFF
    pseudo = headers[12:20] + struct.pack(">HH", 6, size + 20)
    assert struct.unpack(">H", headers[36:38])[0] == ones(pseudo)


@pytest.mark.parametrize("ends", [FOUR, SIX])
def test_the_largest_packet_fits(ends: tuple[tuple[str, int], tuple[str, int]]) -> None:
    assert len(FlowHeaders(*ends, 0).request.header(SEGMENT)) + SEGMENT <= 65_535


def test_a_remark_repeats_no_acknowledgement() -> None:
    flow = FlowHeaders(*FOUR, 0)
    flow.handshake()
    acks = [parsed(flow.request.remark()).ack for _ in range(3)]
    assert acks == [0, 1, 0]
    flow.response.header(5)
    assert parsed(flow.request.remark()).ack == 6
    assert parsed(flow.request.header(1) + b"x")[2:4] == (1, 6)


PLAIN = FlowHeaders(*FOUR, 7).request.header(4) + b"data"
PLAIN_SIX = FlowHeaders(*SIX, 7).request.header(4) + b"data"
SUM = slice(10, 12)


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


def test_padding_behind_the_packet_is_no_payload() -> None:
    assert parsed(PLAIN + b"\0\0").payload == b"data"
    assert parsed(PLAIN_SIX + b"\0\0").payload == b"data"


def test_offloaded_packets_have_no_length() -> None:
    assert parsed(PLAIN[:2] + b"\0\0" + PLAIN[4:]).payload == b"data"


def test_extension_headers_are_stepped_over() -> None:
    extended = PLAIN_SIX[:6] + b"\0" + PLAIN_SIX[7:40]  # hop-by-hop, then destination options
    extended += bytes([60, 0]) + bytes(6) + bytes([6, 1]) + bytes(14) + PLAIN_SIX[40:]
    length = struct.pack(">H", len(extended) - 40)
    assert parsed(extended[:4] + length + extended[6:]) == parsed(PLAIN_SIX)


def test_ip_and_tcp_options_are_stepped_over() -> None:
    optional = b"\x46" + PLAIN[1:20] + bytes(4) + PLAIN[20:32] + b"\x60" + PLAIN[33:40]
    optional += bytes(4) + b"data"
    length = struct.pack(">H", len(optional))
    assert parsed(optional[:2] + length + optional[4:]) == parsed(PLAIN)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" + PLAIN[1:],
        b"\x44" + PLAIN[1:],
        PLAIN[:6] + b"\x20\0" + PLAIN[8:],
        PLAIN[:6] + b"\0\1" + PLAIN[8:],
        PLAIN[:9] + b"\x11" + PLAIN[10:],
        PLAIN_SIX[:6] + b"\x2c" + PLAIN_SIX[7:],
        PLAIN[:32] + b"\x40" + PLAIN[33:],
    ],
)
def test_what_is_no_whole_segment(data: bytes) -> None:
    assert parse(101, data) is None


@given(st.sampled_from([0, 1, 101, 113, 276, 999]), st.binary(max_size=90))
def test_anything_is_a_segment_or_none(linktype: int, data: bytes) -> None:
    parse(linktype, data)


@given(st.sampled_from([PLAIN, PLAIN_SIX]), st.integers(0, 70), st.integers(0, 70))
def test_a_segment_that_was_cut_off(data: bytes, end: int, at: int) -> None:
    changed = bytearray(data[:end])
    if at < len(changed):
        changed[at] ^= 0xFF
    parse(101, bytes(changed))
