"""The fast path brings of any packets what the careful one brings."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.files.pcapng import Run
from barnabas.captures.tcp.fast_headers import fast_tcp_segment
from barnabas.captures.tcp.headers import ACK, FIN, PSH, RST, SYN, TcpSegment, parse
from barnabas.captures.tcp.reassembly import Event, Reassembler
from tests.captures.tcp.test_reassembly import back, handshake, there
from tests.captures.traffic import ip_packet

STEPS = st.lists(
    st.tuples(
        st.booleans(),
        st.integers(0, 4),
        st.sampled_from([0] * 12 + [-3, 2, 5]),
        st.sampled_from([ACK | PSH] * 12 + [ACK | FIN, ACK | RST, SYN, PSH]),
    ),
    max_size=40,
)
"""Of each packet: whether the client sends it, bytes, how far its number is beside what is due, flags."""


def segments(steps: list[tuple[bool, int, int, int]]) -> list[TcpSegment]:
    found, due = handshake(), {True: 101, False: 501}
    for asks, size, beside, flags in steps:
        make = there if asks else back
        found.append(make(due[asks] + beside, b"x" * size, flags, due[not asks]))
        due[asks] += size if not beside else 0
    return found


def carefully(packets: list[bytes]) -> list[Event]:
    flows = Reassembler()
    found: list[Event] = []
    for number, packet in enumerate(packets):
        segment = parse(101, packet)
        assert segment is not None
        found += flows.feed(segment, number, (), number)
    return found + list(flows.end())


def fast(packets: list[bytes]) -> tuple[list[Event], int]:
    """The events, and how many packets took the fast path."""
    flows = Reassembler()
    ends = list(itertools.accumulate(map(len, packets), initial=0))
    places = [(at, *place) for at, place in enumerate(itertools.pairwise(ends))]
    found: list[Event] = []
    careful = 0
    for one in flows.run(Run(101, memoryview(b"".join(packets)), places, 0, 0), 0):
        if not isinstance(one, int):
            found.append(one)
            continue
        careful += 1
        segment, place = parse(101, packets[one]), fast_tcp_segment(101, packets[one])
        assert segment is not None
        assert place is not None
        found += flows.feed(segment, one, (), one)
        flows.learn(place, segment)
    return found + list(flows.end()), len(packets) - careful


@given(STEPS)
def test_any_packets(steps: list[tuple[bool, int, int, int]]) -> None:
    packets = [ip_packet(segment) for segment in segments(steps)]
    assert fast(packets)[0] == carefully(packets)


def test_packets_in_order_take_the_fast_path() -> None:
    packets = [
        ip_packet(segment) for segment in segments([(True, 2, 0, ACK), (False, 3, 0, ACK)] * 9)
    ]
    assert fast(packets)[1] > len(packets) // 2
