"""Streams from segments: order, repetitions, losses, and that memory is bounded."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.files.pcapng import Run
from barnabas.captures.tcp import reassembly
from barnabas.captures.tcp.fast_headers import FastTcpSegment, fast_tcp_segment
from barnabas.captures.tcp.flow import GRACE
from barnabas.captures.tcp.half import Data, Gap
from barnabas.captures.tcp.headers import ACK, FIN, PSH, RST, SYN, Captured, TcpSegment
from barnabas.captures.tcp.initial_sequence import WAIT_NS
from barnabas.captures.tcp.reassembly import Closed, Event, Opened, Reassembler
from tests.captures.traffic import ip_packet

CLIENT, SERVER = ("10.0.0.1", 50000), ("10.0.0.2", 9092)


def there(seq: int, payload: bytes = b"", flags: int = ACK | PSH, ack: int = 0) -> TcpSegment:
    return TcpSegment(CLIENT, SERVER, seq % 2**32, ack, flags, payload)


def back(seq: int, payload: bytes = b"", flags: int = ACK | PSH, ack: int = 0) -> TcpSegment:
    return TcpSegment(SERVER, CLIENT, seq % 2**32, ack % 2**32, flags, payload)


def run(
    segments: Iterable[TcpSegment], *, patience: int = 1 << 20, end: bool = True
) -> list[Event]:
    flows = Reassembler(patience=patience)
    found = [event for ts, segment in enumerate(segments) for event in flows.feed(segment, ts)]
    return [*found, *flows.end()] if end else found


def stream(events: Iterable[Event], direction: str = "request") -> bytes:
    """The bytes of a direction, a question mark for each that is missing."""
    found = b""
    for event in events:
        if isinstance(event, Data | Gap) and event.direction == direction:
            found += event.data if isinstance(event, Data) else b"?" * event.size
    return found


def handshake(isn: int = 100) -> list[TcpSegment]:
    return [there(isn, flags=SYN), back(500, flags=SYN | ACK), there(isn + 1, flags=ACK)]


def test_a_conversation() -> None:
    segments = [
        *handshake(),
        there(101, b"ask"),
        back(501, b"answer", ack=104),
        there(104, flags=FIN | ACK, ack=507),
        back(507, b"rest", flags=FIN | ACK, ack=105),
    ]
    assert run(segments) == [
        Opened(1, 0, CLIENT, SERVER, ()),
        Data(1, "request", 3, b"ask", ()),
        Data(1, "response", 4, b"answer", ()),
        Data(1, "response", 6, b"rest", ()),
        Closed(1, 6, False, "request"),
    ]


def usual_of(segment: TcpSegment) -> FastTcpSegment:
    """Where the packet that a segment comes in has what."""
    found = fast_tcp_segment(101, ip_packet(segment))
    assert found is not None
    return found


def skimmed(flows: Reassembler, segments: list[TcpSegment]) -> list[Data | int]:
    """What packets bring whose times count from 1 and numbers from 4."""
    packets = [ip_packet(segment) for segment in segments]
    ends = list(itertools.accumulate(map(len, packets), initial=0))
    places = [(at + 1, *place) for at, place in enumerate(itertools.pairwise(ends))]
    return list(flows.run(Run(101, memoryview(b"".join(packets)), places, 0, 0), 4))


def test_what_is_not_yet_demanded_is_gathered() -> None:
    flows = Reassembler()
    opened, *_ = [event for segment in handshake() for event in flows.feed(segment, 0)]
    assert isinstance(opened, Opened)
    opened.needs["request"].bytes = 5
    pieces = [there(101, b"ab", ack=501), there(103, b"c", ack=501), there(104, b"defg", ack=501)]
    assert skimmed(flows, pieces) == [0, 1, 2]  # nobody knows whose they are
    flows.learn(usual_of(pieces[0]), pieces[0])
    assert skimmed(flows, pieces) == [Data(1, "request", 3, b"abcdefg", (), 6)]
    assert opened.needs["request"].bytes == 0


def test_what_was_gathered_comes_before_anything_unusual() -> None:
    flows = Reassembler()
    opened, *_ = [event for segment in handshake() for event in flows.feed(segment, 0)]
    assert isinstance(opened, Opened)
    opened.needs["request"].bytes = 5
    flows.learn(usual_of(there(101)), there(101))
    assert not skimmed(flows, [there(101, b"ab", ack=501), there(103, b"c", ack=501)])
    assert list(flows.feed(there(104, b"d", flags=FIN | ACK, ack=501), 9, (), 6)) == [
        Data(1, "request", 2, b"abc", (), 5),
        Data(1, "request", 9, b"d", (), 6),
    ]


def test_what_was_gathered_is_there_at_the_end() -> None:
    flows = Reassembler()
    opened, *_ = [event for segment in handshake() for event in flows.feed(segment, 0)]
    assert isinstance(opened, Opened)
    opened.needs["request"].bytes = 5
    flows.learn(usual_of(there(101)), there(101))
    assert not skimmed(flows, [there(101, b"ab", ack=501)])
    assert list(flows.end()) == [Data(1, "request", 1, b"ab", (), 4)]


@given(
    isn=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=30),
    data=st.data(),
)
def test_any_order_and_any_repetition(isn: int, sizes: list[int], data: st.DataObject) -> None:
    whole = bytes(n % 256 for n in range(sum(sizes)))
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    pieces = [there(isn + 1 + at, whole[at : at + n]) for at, n in zip(starts, sizes, strict=True)]
    again = data.draw(st.lists(st.sampled_from(pieces), max_size=10))
    overlap = data.draw(st.integers(0, len(whole) - 1))
    again.append(there(isn + 1 + overlap, whole[overlap : overlap + 20]))
    syns = [there(isn, flags=SYN), back(500, flags=SYN | ACK, ack=isn + 1)]
    events = run(data.draw(st.permutations(syns + pieces + again)), end=False)
    assert isinstance(events[0], Opened) and events[0].handshake  # noqa: PT018
    assert stream(events) == whole
    assert not [event for event in events if isinstance(event, Gap)]


@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=20),
    missing=st.sets(st.integers(0, 19)),
    patience=st.sampled_from([0, 5, 1000]),
)
def test_what_is_missing_is_counted(sizes: list[int], missing: set[int], patience: int) -> None:
    segments, expected, at = [there(2**32 - 5, flags=SYN)], b"", 2**32 - 4
    kept = b""
    for number, size in enumerate(sizes):
        if number in missing:
            expected += b"?" * size
        else:
            segments.append(there(at, b"x" * size))
            kept = expected = expected + b"x" * size
        at += size
    assert stream(run(segments, patience=patience)) == kept


def test_without_patience_a_gap_is_known_at_once() -> None:
    segments = [*handshake(), there(111, b"x"), back(501, b"y")]
    kinds = [type(event) for event in run(segments, patience=0, end=False)]
    assert kinds == [Opened, Gap, Data, Data]


def test_bytes_that_wait_are_bounded() -> None:
    flows = Reassembler(patience=100)
    for segment in handshake():
        list(flows.feed(segment, 0))
    found = [event for n in range(99) for event in flows.feed(there(201 + n, b"x"), 0)]
    assert found == []
    found = list(flows.feed(there(300, b"x"), 0))
    assert found[0] == Gap(1, "request", 0, 100)
    assert stream(found) == b"?" * 100 + b"x" * 100


def test_segments_that_wait_are_bounded() -> None:
    flows = Reassembler()
    count = sum(
        isinstance(event, Gap) for n in range(5000) for event in flows.feed(there(2 * n, b"x"), 0)
    )
    assert count == 5000 - 1 - 4096


def test_what_the_receiver_has_seen_was_not_captured() -> None:
    segments = [*handshake(), there(111, b"later")]
    segments += [back(501 + n, b"y", ack=111) for n in range(GRACE)]
    assert stream(run(segments[:-1], end=False)) == b""
    assert stream(run(segments, end=False)) == b"?" * 10 + b"later"


def test_an_answer_waits_for_what_its_sender_had_received() -> None:
    answer, ask = back(501, b"answer", ack=104), there(101, b"ask")
    asked = Data(1, "request", 4, b"ask", ())
    assert run([*handshake(), answer, ask])[1:] == [asked, Data(1, "response", 3, b"answer", ())]
    lost = Gap(1, "request", 3, 3)
    assert run([*handshake(), answer])[1:] == [lost, Data(1, "response", 3, b"answer", ())]
    unseen = back(501, b"x", ack=101 + (1 << 29))  # no number of this conversation
    assert stream(run([*handshake(), unseen], end=False), "response") == b"x"
    overlapping = [back(499, b"..ab", ack=111), back(501, b"ab", ack=101)]
    assert stream(run([*handshake(), *overlapping], end=False), "response") == b"ab"


def test_a_capture_that_begins_in_the_middle() -> None:
    segments = [back(900, b"answer", ack=300), there(300, b"ask", ack=906)]
    events = run([*segments, there(303, b"ask", ack=906)])
    assert events[0] == Opened(1, 0, CLIENT, SERVER, (), handshake=False)
    assert (stream(events), stream(events, "response")) == (b"askask", b"answer")


def test_a_handshake_of_which_only_the_answer_was_captured() -> None:
    segment = TcpSegment(("10.0.0.2", 65000), ("10.0.0.1", 80), 500, 0, SYN | ACK, b"")
    opened = Opened(1, 0, segment.target, segment.source, (), handshake=False)
    assert run([segment]) == [opened]
    asked = TcpSegment(segment.target, segment.source, 1, 501, ACK, b"ask")
    assert run([asked, segment])[0] == opened._replace(ts_ns=1)


def test_without_a_handshake_the_lower_port_is_the_servers_or_that_of_who_is_asked() -> None:
    for source, target, client in ((5, 9, 9), (9, 5, 9), (9, 9, 9)):
        segment = TcpSegment(("10.0.0.1", source), ("10.0.0.2", target), 1, 1, ACK, b"x")
        (opened, _) = run([segment])
        assert isinstance(opened, Opened)
        assert opened.client == (segment.target if source < target else segment.source)
        assert opened.client[1] == client


def test_a_repeated_syn_changes_nothing() -> None:
    events = run([*handshake(), there(101, b"a"), *handshake(), there(102, b"b")])
    assert stream(events) == b"ab"
    assert sum(isinstance(event, Opened) for event in events) == 1


def test_ports_are_used_again() -> None:
    first = [*handshake(), there(101, b"a"), there(105, b"z")]
    events = run([*first, *handshake(9000), there(9001, b"b")])
    assert events == [
        Opened(1, 0, CLIENT, SERVER, ()),
        Data(1, "request", 3, b"a", ()),
        Gap(1, "request", 4, 3),
        Data(1, "request", 4, b"z", ()),
        Closed(1, 5, False),
        Opened(2, 5, CLIENT, SERVER, ()),
        Data(2, "request", 8, b"b", ()),
    ]


def test_a_reset_closes() -> None:
    events = run([*handshake(), there(101, b"a"), back(501, flags=RST | ACK), there(102)])
    assert events[2:] == [Closed(1, 4, True, "response")]


def test_what_comes_again_of_a_conversation_that_is_over_opens_none() -> None:
    over = [*handshake(), there(101, b"a"), back(501, flags=RST | ACK)]
    again = [there(101, b"a"), there(100, flags=SYN), back(500, flags=SYN | ACK)]
    assert run([*over, *again]) == run(over)
    assert stream(run([*over, there(102, b"b")])) == b"ab"


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


def test_a_reset_closes_when_nothing_waits_any_more() -> None:
    segments = [*handshake(), there(103, b"cd"), back(501, flags=RST | ACK), there(101, b"ab")]
    events = run(segments)
    assert (stream(events), events[-1]) == (b"abcd", Closed(1, 5, True, "response"))


def test_ports_are_used_again_before_the_beginning_is_known() -> None:
    events = run([there(100, b"a"), there(101, flags=RST | ACK), there(5000, b"b")])
    assert [event.flow for event in events if isinstance(event, Opened)] == [1, 2]


def test_a_conversation_goes_on_of_which_the_beginning_is_elsewhere() -> None:
    flows = Reassembler()
    first = Captured(there(0), 5, ("said",), 1)
    assert flows.followed(first.tcp) is None
    opened = Opened(1, 5, CLIENT, SERVER, ("said",), handshake=False)
    assert list(flows.resume(first, (101, 501), again=False)) == [opened]
    assert flows.followed(back(501)) == 1
    assert list(flows.feed(there(101, b"ab", ack=501), 6)) == [Data(1, "request", 6, b"ab", ())]
    renewed = list(flows.resume(first, (901, 501), again=True))
    assert renewed == [Closed(1, 5, False), opened._replace(flow=2)]


def test_a_reset_waits_for_what_comes_before_it() -> None:
    segments = [*handshake(), there(103, flags=RST | ACK), there(101, b"ab")]
    assert run(segments)[1:] == [Data(1, "request", 4, b"ab", ()), Closed(1, 4, True, "request")]


def test_a_handshake_may_stand_behind_what_follows_it() -> None:
    first, *rest = handshake()
    segments = [there(103, b"cd"), there(101, b"ab"), first, *rest]
    assert stream(run(segments)) == b"abcd"


def test_an_answer_before_the_handshake_keeps_what_came_first() -> None:
    segments = [back(503, b"cd", ack=103), there(101, b"ab"), back(501, b"ab", ack=103)]
    events = run([*segments, *reversed(handshake())], end=False)
    assert (stream(events), stream(events, "response")) == (b"ab", b"abcd")


def test_a_beginning_is_waited_for_by_segments_and_by_time() -> None:
    middle = [there(300 + n, b"x") for n in range(GRACE)]
    assert run(middle[:-1], end=False) == []
    assert stream(run(middle, end=False)) == b"x" * GRACE
    flows = Reassembler()
    assert list(flows.feed(middle[0], 0)) == []
    assert stream(flows.feed(middle[1], WAIT_NS)) == b"xx"


@pytest.mark.parametrize(("send", "direction"), [(there, "request"), (back, "response")])
def test_the_lowest_number_is_the_beginning(send: Any, direction: str) -> None:
    segments = [send(2, b"c"), send(0, b"a"), send(1, b"b"), send(2**32 - 1, b"_")]
    assert stream(run(segments), direction) == b"_abc"


def test_a_syn_far_from_what_was_held_back_opens_another() -> None:
    events = run([there(2**31, b"old"), *handshake(), there(101, b"new")])
    opened = [event.handshake for event in events if isinstance(event, Opened)]
    assert (opened, stream(events)) == ([False, True], b"oldnew")


def test_what_is_held_back_is_bounded() -> None:
    flows = Reassembler()
    payload = bytes(reassembly.PATIENCE // 2)
    opened = [
        (n, event.client[0])
        for n in range(130)
        for event in flows.feed(TcpSegment((f"10.0.0.{n}", 50000), SERVER, 0, 0, ACK, payload), 0)
        if isinstance(event, Opened)
    ]
    assert 128 * len(payload) == reassembly.HELD_IN_ALL
    assert opened == [(128, "10.0.0.0"), (129, "10.0.0.1")]


def test_a_fin_waits_for_what_comes_before_it() -> None:
    segments = [
        *handshake(),
        back(501, flags=FIN | ACK),
        there(103, flags=FIN | ACK),
        there(101, b"ab"),
    ]
    data, closed = Data(1, "request", 5, b"ab", ()), Closed(1, 5, False, "response")
    assert run(segments)[1:] == [data, closed]


def test_a_fin_may_come_with_a_repetition() -> None:
    segments = [*handshake(), back(501, flags=FIN | ACK), there(101, b"a")]
    closed = Closed(1, 5, False, "response")
    assert run([*segments, there(101, b"a", flags=FIN | ACK)])[-1] == closed


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


def opened_from(client: tuple[str, int]) -> list[TcpSegment]:
    syn = TcpSegment(client, SERVER, 0, 0, SYN, b"")
    return [syn, TcpSegment(SERVER, client, 0, 1, SYN | ACK, b"")]


def test_conversations_without_an_answer_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reassembly, "FLOWS", 100)
    flows = Reassembler()
    opened = [
        event.flow for n in range(103) for event in flows.feed(opened_from(("10.0.0.1", n))[0], n)
    ]
    assert opened == [1, 2, 3]


def test_flows_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reassembly, "FLOWS", 100)
    flows = Reassembler()
    events = [
        event
        for n in range(103)
        for segment in opened_from(("10.0.0.1", n))
        for event in flows.feed(segment, n)
    ]
    closed = [event for event in events if isinstance(event, Closed)]
    assert closed == [Closed(n, 99 + n, False) for n in (1, 2, 3)]


@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.integers(0, 40) | st.integers(0, 2**32 - 1),
            st.integers(0, 2**32 - 1),
            st.integers(0, 255),
            st.binary(max_size=5),
        ),
        max_size=40,
    )
)
def test_any_segments_at_all(raw: list[tuple[bool, int, int, int, bytes]]) -> None:
    events = run(
        TcpSegment(*((CLIENT, SERVER) if out else (SERVER, CLIENT)), seq, ack, flags, payload)
        for out, seq, ack, flags, payload in raw
    )
    open_flows: set[int] = set()
    for event in events:
        if isinstance(event, Opened):
            open_flows.add(event.flow)
        assert event.flow in open_flows
        if isinstance(event, Closed):
            open_flows.remove(event.flow)
