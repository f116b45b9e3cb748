"""Test the initial sequence numbers of conversations with a late handshake or without one."""

from __future__ import annotations

import pytest

from barnabas.captures.tcp.headers import ACK, PSH, SYN, Captured, TcpSegment
from barnabas.captures.tcp.initial_sequence import WAIT_NS, InitialSequence

ENDS = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
BACK = ENDS[::-1]
NOW = 1_500_000_000_000_000_000


def begun(*segments: TcpSegment) -> InitialSequence:
    return InitialSequence(1, [Captured(segment, NOW, (), 1) for segment in segments])


@pytest.mark.parametrize(("later", "waits"), [(0, True), (WAIT_NS - 1, True), (WAIT_NS, False)])
def test_a_segment_is_waited_for_a_second(later: int, waits: bool) -> None:
    data = TcpSegment(*ENDS, 103, 0, ACK | PSH, b"cd")
    assert begun(data).waits_for(Captured(data, NOW + later, (), 2)) == waits


def test_a_syn_that_comes_again_belongs_to_the_first() -> None:
    syn = TcpSegment(*ENDS, 7, 0, SYN, b"")
    assert begun(syn).waits_for(Captured(syn, NOW, (), 2))


@pytest.mark.parametrize(("flags", "number"), [(SYN, 301), (ACK, 305)])
def test_what_an_end_waits_for_counts_behind_its_syn(flags: int, number: int) -> None:
    there = TcpSegment(*ENDS, 7, 0, flags, b""), TcpSegment(*ENDS, 8, 301, ACK, b"")
    assert begun(*there, TcpSegment(*BACK, 305, 8, ACK | PSH, b"ab")).first(BACK[0]) == number
