"""What is made of a template is what is made anew."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.host_port import Endpoint
from barnabas.captures.writing.flow_headers import FlowHeaders
from barnabas.captures.writing.pcapng import packet
from barnabas.captures.writing.plain_packet import PlainPacket
from tests.captures.tcp.test_headers import FOUR, SIX

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
