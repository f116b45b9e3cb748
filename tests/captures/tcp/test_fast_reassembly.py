"""Test that the fast paths give the same results as the careful path for all packets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.files.pcapng import Run
from barnabas.captures.tcp.fast_headers import fast_tcp_segment
from barnabas.captures.tcp.flow import GRACE
from barnabas.captures.tcp.half import Data
from barnabas.captures.tcp.headers import ACK, FIN, PSH, RST, SYN, TcpSegment, parse
from barnabas.captures.tcp.reassembly import Event, Reassembler
from tests.captures.network import LINKS, wrapped
from tests.captures.tcp.test_reassembly import back, handshake, there

STEPS = st.lists(
    st.tuples(
        st.booleans(),
        st.integers(0, 4),
        st.sampled_from([0] * 12 + [-3, 2, 5]),
        st.sampled_from([ACK | PSH] * 12 + [ACK | FIN, ACK | RST, SYN, PSH]),
        st.sampled_from([0] * 12 + [-2, 1, 2]),
    ),
    max_size=40,
)
"""Of each packet: whether the client sends it, bytes, how far its number is from what is due, flags, how far
what it acknowledges is from what came."""
TALK = [(True, 2, 0, ACK, 0), (False, 3, 0, ACK, 0)] * 9


def segments(steps: list[tuple[bool, int, int, int, int]]) -> list[TcpSegment]:
    found, due = handshake(), {True: 101, False: 501}
    for asks, size, beside, flags, acknowledges in steps:
        make = there if asks else back
        found.append(make(due[asks] + beside, b"x" * size, flags, due[not asks] + acknowledges))
        due[asks] += size if not beside else 0
    return found


def packets_of(found: list[TcpSegment], link: str, six: bool, strange: float) -> list[bytes]:
    """Packets, some with IP options; strange: the share of those."""
    random = Random(len(found))
    packets = []
    for one in found:
        if six:
            ends = [(f"fe80::{host[-1]}", port) for host, port in (one.source, one.target)]
            one = one._replace(source=ends[0], target=ends[1])
        packet = wrapped(one, link, random)
        if not six and random.random() < strange:
            at = len(bytes.fromhex(LINKS[link][1]))
            length = int.from_bytes(packet[at + 2 : at + 4]) + 4
            head = b"\x46" + packet[at + 1 : at + 2] + length.to_bytes(2) + packet[at + 4 : at + 20]
            packet = packet[:at] + head + b"\1\1\1\0" + packet[at + 20 :]
        packets.append(packet)
    return packets


def feed(flows: Reassembler, linktype: int, packet: bytes, number: int) -> Iterator[Event]:
    """Take a packet with care, and learn whose it is."""
    segment, place = parse(linktype, packet), fast_tcp_segment(linktype, packet)
    assert segment is not None
    yield from flows.feed(segment, number, (), number)
    if place is not None:
        flows.learn(place, segment)


def carefully(packets: list[bytes], linktype: int, flows: Reassembler) -> tuple[list[Event], int]:
    events = [event for at, each in enumerate(packets) for event in feed(flows, linktype, each, at)]
    return [*events, *flows.end()], 0


def in_a_run(packets: list[bytes], linktype: int, flows: Reassembler) -> tuple[list[Event], int]:
    """Return the events, and how many packets took the fast path."""
    ends = list(itertools.accumulate(map(len, packets), initial=0))
    places = [(at, *place) for at, place in enumerate(itertools.pairwise(ends))]
    found: list[Event] = []
    careful = 0
    for one in flows.run(Run(linktype, memoryview(b"".join(packets)), places, 0, 0), 0):
        if isinstance(one, int):
            careful += 1
            found += feed(flows, linktype, packets[one], one)
        else:
            found.append(one)
    return found + list(flows.end()), len(packets) - careful


@given(STEPS, st.sampled_from(list(LINKS)), st.booleans(), st.sampled_from([0, 1 << 20]))
def test_any_packets(
    steps: list[tuple[bool, int, int, int, int]], link: str, six: bool, wait_limit: int
) -> None:
    packets = packets_of(segments(steps), link, six, 0.1)
    expected = carefully(packets, LINKS[link][0], Reassembler(wait_limit=wait_limit))[0]
    events, _ = in_a_run(packets, LINKS[link][0], Reassembler(wait_limit=wait_limit))
    assert events == expected


@pytest.mark.parametrize("link", ["raw", "ethernet", "cooked"])
@pytest.mark.parametrize("six", [False, True])
def test_packets_in_order_take_the_fast_path(link: str, six: bool) -> None:
    packets = packets_of(segments(TALK), link, six, 0)
    events, count = in_a_run(packets, LINKS[link][0], Reassembler())
    assert count == len(TALK)
    assert [event.data for event in events if isinstance(event, Data)] == [b"xx", b"xxx"] * 9


def test_of_what_is_unusual_nothing_takes_it() -> None:
    packets = packets_of(segments(TALK), "ethernet", False, 1)
    assert in_a_run(packets, 1, Reassembler())[1] == 0
    packets = packets_of(segments(TALK), "vlan", False, 0)
    assert in_a_run(packets, 1, Reassembler())[1] == 0


@pytest.mark.parametrize("way", [carefully, in_a_run])
def test_a_gap_is_known_though_an_older_acknowledgement_came_after_the_one_that_shows_it(
    way: Any,
) -> None:
    found = segments(TALK[:4])
    asked, answered = 105, 507
    found += [back(answered, b"", ACK, asked + 5), back(answered, b"zz", ACK, asked)]
    found += [there(asked + 5, b"late", ACK, answered + 2)]
    found += [back(answered + 2, b"", ACK, asked)] * GRACE
    flows = Reassembler()
    with mock.patch.object(flows, "end", return_value=()):
        events, _ = way(packets_of(found, "raw", False, 0), 101, flows)
    assert [event.data for event in events[-2:] if isinstance(event, Data)] == [b"late"]
