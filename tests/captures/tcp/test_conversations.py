"""Test where conversations begin and end, what is gathered of them, and how many are tracked at once."""

from __future__ import annotations

import itertools

import pytest

from barnabas.captures.files.pcapng import Run
from barnabas.captures.tcp import reassembly
from barnabas.captures.tcp.fast_headers import fast_tcp_segment
from barnabas.captures.tcp.flow import GRACE
from barnabas.captures.tcp.half import Data
from barnabas.captures.tcp.headers import ACK, FIN, RST, SYN, Captured, TcpSegment
from barnabas.captures.tcp.initial_sequence import WAIT_NS
from barnabas.captures.tcp.reassembly import Closed, Event, Opened, Reassembler
from tests.captures.tcp.test_reassembly import CLIENT, SERVER, back, handshake, run, stream, there
from tests.captures.traffic import ip_packet


def test_a_handshake_of_which_only_the_answer_was_captured() -> None:
    segment = TcpSegment(("10.0.0.2", 65000), ("10.0.0.1", 80), 500, 0, SYN | ACK, b"")
    opened = Opened(1, 0, segment.target, segment.source, (), handshake=False)
    assert run([segment]) == [opened]
    asked = TcpSegment(segment.target, segment.source, 1, 501, ACK, b"ask")
    assert run([asked, segment])[0] == opened._replace(ts_ns=1)


def test_without_a_handshake_the_lower_port_is_the_servers_or_that_of_who_is_asked() -> None:
    for source, target in ((5, 9), (9, 5), (9, 9)):
        segment = TcpSegment(("10.0.0.1", source), ("10.0.0.2", target), 1, 1, ACK, b"x")
        opened, _ = run([segment])
        assert isinstance(opened, Opened)
        assert opened.client == (segment.target if source < target else segment.source)


def test_of_many_that_are_over_the_latest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reassembly, "_ENDED", 2)
    flows = Reassembler()

    def told(port: int, seq: int, flags: int = ACK) -> list[Event]:
        segment = TcpSegment(("10.0.0.1", port), SERVER, seq, 0, flags, b"x")
        return list(flows.feed(segment, 0))

    for port, seq in ((1, 100), (2, 100), (1, 5000), (3, 100)):
        told(port, seq, SYN)
        told(port, seq + 2, RST | ACK)
        list(flows.end())
    assert [*told(1, 5001), *flows.end()] == []


def test_a_conversation_goes_on_of_which_the_beginning_is_elsewhere() -> None:
    flows = Reassembler(numbers=itertools.count(5))
    first = Captured(there(0), 5, ("said",), 1)
    assert flows.followed(first.tcp) is None
    opened = Opened(5, 5, CLIENT, SERVER, ("said",), handshake=False)
    assert list(flows.resume(first, (101, 501), again=False)) == [opened]
    assert flows.followed(back(501)) == 5
    assert list(flows.feed(there(101, b"ab", ack=501), 6)) == [Data(5, "request", 6, b"ab", ())]
    renewed = list(flows.resume(first, (901, 501), again=True))
    assert renewed == [Closed(5, 5, False), opened._replace(flow=6)]
    assert [*flows.end(), flows.followed(first.tcp)] == [None]


def test_a_beginning_is_waited_for_by_segments_and_by_time() -> None:
    middle = [there(300 + n, b"x") for n in range(GRACE)]
    assert run(middle[:-1], end=False) == []
    assert stream(run(middle, end=False)) == b"x" * GRACE
    flows = Reassembler()
    assert list(flows.feed(middle[0], 0)) == []
    assert stream(flows.feed(middle[1], WAIT_NS)) == b"xx"


def test_what_is_held_back_is_bounded() -> None:
    flows = Reassembler()
    payload = bytes(reassembly.WAIT_LIMIT // 2)
    opened = [
        (n, event.client[0])
        for n in range(130)
        for event in flows.feed(TcpSegment((f"10.0.0.{n}", 50000), SERVER, 0, 0, ACK, payload), 0)
        if isinstance(event, Opened)
    ]
    assert 128 * len(payload) == reassembly.HELD_IN_ALL
    assert opened == [(128, "10.0.0.0"), (129, "10.0.0.1")]


def test_comments_stay_where_they_were() -> None:
    flows = Reassembler()
    found: list[Event] = []
    for segment, comments in [
        (there(100, flags=SYN), ("syn",)),
        (back(500, flags=SYN | ACK), ()),
        (there(104, b"", flags=ACK), ("empty",)),
        (there(104, b"de"), ("last",)),
        (there(101, b"abc"), ("first", "second")),
        (there(101, b"abc"), ("again",)),
    ]:
        found += flows.feed(segment, 0, comments)
    assert found == [
        Opened(1, 0, CLIENT, SERVER, ("syn",)),
        Data(1, "request", 0, b"abc", ("first", "second")),
        Data(1, "request", 0, b"", ("empty",)),
        Data(1, "request", 0, b"de", ("last",)),
    ]


@pytest.mark.parametrize("answered", [False, True])
def test_conversations_are_bounded(answered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reassembly, "FLOWS", 100)
    flows = Reassembler()
    events: list[Event] = []
    for number in range(103):
        client = ("10.0.0.1", number)
        events += flows.feed(TcpSegment(client, SERVER, 0, 0, SYN, b""), number)
        if answered:
            events += flows.feed(TcpSegment(SERVER, client, 0, 1, SYN | ACK, b""), number)
    closed = [event for event in events if isinstance(event, Closed)]
    opened = [event.flow for event in events if isinstance(event, Opened)]
    assert closed == [Closed(n, 99 + n, False) for n in (1, 2, 3) if answered]
    assert opened == list(range(1, 104 if answered else 4))


def gathering(needed: int) -> tuple[Reassembler, Opened]:
    """Open a conversation with known packets whose reader needs this many bytes of requests."""
    flows = Reassembler()
    opened, *_ = [event for segment in handshake() for event in flows.feed(segment, 0)]
    assert isinstance(opened, Opened)
    opened.needs["request"].bytes = needed
    place = fast_tcp_segment(101, ip_packet(there(101)))
    assert place is not None
    flows.learn(place, there(101))
    return flows, opened


def skimmed(flows: Reassembler, *segments: TcpSegment) -> list[Data | int]:
    """Return the results of a run of packets with times from 1 and numbers from 4."""
    packets = [ip_packet(segment) for segment in segments]
    ends = list(itertools.accumulate(map(len, packets), initial=0))
    places = [(at + 1, *place) for at, place in enumerate(itertools.pairwise(ends))]
    return list(flows.run(Run(101, memoryview(b"".join(packets)), places, 0, 0), 4))


ONE, TWO = there(101, b"ab", ack=501), there(103, b"c", ack=501)


def test_what_is_not_yet_needed_is_gathered() -> None:
    assert skimmed(Reassembler(), ONE, TWO) == [0, 1]  # nobody knows whose they are
    flows, opened = gathering(5)
    gathered = Data(1, "request", 3, b"abcdefg", (), 6)
    assert skimmed(flows, ONE, TWO, there(104, b"defg", ack=501)) == [gathered]
    assert opened.needs["request"].bytes == 0


def test_what_was_gathered_comes_before_anything_unusual_and_at_the_end() -> None:
    flows, _ = gathering(5)
    assert not skimmed(flows, ONE, TWO)
    assert list(flows.feed(there(104, b"d", flags=FIN | ACK, ack=501), 9, (), 6)) == [
        Data(1, "request", 2, b"abc", (), 5),
        Data(1, "request", 9, b"d", (), 6),
    ]
    # what has no bytes changes neither the time nor the packet
    flows, _ = gathering(5)
    assert not skimmed(flows, ONE, there(103, ack=501))
    assert list(flows.end()) == [Data(1, "request", 1, b"ab", (), 4)]
