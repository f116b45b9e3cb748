"""Test that headers are parsed back, numbers increase, and checksums are right."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.headers import ACK, FIN, PSH, SYN
from barnabas.captures.writing.flow_headers import SEGMENT, FlowHeaders
from barnabas.captures.writing.pcapng import packet
from barnabas.captures.writing.plain_packet import PlainPacket
from tests.captures.tcp.test_headers import FOUR, SIX, parsed

MIXED = ("10.1.2.3", 50000), ("::1", 9092)


def ones(data: bytes) -> int:
    """Compute the sum of RFC 1071 the slow way."""
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


@given(st.integers(0, SEGMENT), st.integers(0, 65535), st.ip_addresses(v=4))
def test_the_ip_checksum_is_right(size: int, port: int, address: object) -> None:
    headers = FlowHeaders((str(address), port), FOUR[1], 0).request.header(size)
    assert ones(headers[:20]) == 0xFFFF
    pseudo = headers[12:20] + struct.pack(">HH", 6, size + 20)
    assert struct.unpack(">H", headers[36:38])[0] == ones(pseudo)


TIMES = st.integers(0, 2**63 - 1)


@pytest.mark.parametrize("ends", [FOUR, SIX])
@given(
    isn=st.integers(0, 2**32 - 1),
    chunks=st.lists(st.tuples(st.booleans(), TIMES, st.integers(1, 9)), min_size=2, max_size=9),
)
def test_as_packets_that_are_made_one_by_one(
    ends: tuple[Endpoint, Endpoint], isn: int, chunks: list[tuple[bool, int, int]]
) -> None:
    one, other = (FlowHeaders(*ends, isn) for _ in range(2))
    plain = {True: PlainPacket(one.request), False: PlainPacket(one.response)}
    for request, ts_ns, size in chunks:
        data = bytes([size]) * size
        half = other.request if request else other.response
        expected = packet(ts_ns, half.header(size), data)
        assert b"".join(plain[request].of(ts_ns, data)) == b"".join(expected)
    assert one.request.remark() == other.request.remark(), "the next goes on where it ended"
