"""Test streams of segments: order, retransmissions, losses, and bounded memory."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.tcp.flow import GRACE
from barnabas.captures.tcp.half import Data, Gap
from barnabas.captures.tcp.headers import ACK, FIN, PSH, RST, SYN, TcpSegment
from barnabas.captures.tcp.reassembly import Closed, Event, Opened, Reassembler

CLIENT, SERVER = ("10.0.0.1", 50000), ("10.0.0.2", 9092)


def there(seq: int, payload: bytes = b"", flags: int = ACK | PSH, ack: int = 0) -> TcpSegment:
    return TcpSegment(CLIENT, SERVER, seq % 2**32, ack, flags, payload)


def back(seq: int, payload: bytes = b"", flags: int = ACK | PSH, ack: int = 0) -> TcpSegment:
    return TcpSegment(SERVER, CLIENT, seq % 2**32, ack % 2**32, flags, payload)


def run(
    segments: Iterable[TcpSegment], *, wait_limit: int = 1 << 20, end: bool = True
) -> list[Event]:
    flows = Reassembler(wait_limit=wait_limit)
    results = [event for ts, segment in enumerate(segments) for event in flows.feed(segment, ts)]
    return [*results, *flows.end()] if end else results


def stream(events: Iterable[Event], direction: str = "request") -> bytes:
    """Return the bytes of a direction, with a question mark for each missing byte."""
    result = b""
    for event in events:
        if isinstance(event, Data | Gap) and event.direction == direction:
            result += event.data if isinstance(event, Data) else b"?" * event.size
    return result


def handshake(isn: int = 100) -> list[TcpSegment]:
    return [there(isn, flags=SYN), back(500, flags=SYN | ACK), there(isn + 1, flags=ACK)]


H = handshake()
END, RESET = FIN | ACK, RST | ACK


def words(events: Iterable[Event]) -> str:
    """Events in short: > is of the client, < of the server."""
    lines = []
    for event in events:
        match event:
            case Opened():
                lines.append(f"{event.flow} opened{'' if event.handshake else ' midway'}")
            case Data() | Gap():
                what = event.data.decode() if isinstance(event, Data) else f"{event.size} missing"
                lines.append(f"{'>' if event.direction == 'request' else '<'} {what}")
            case Closed():
                who = f" by {event.by}" if event.by else ""
                lines.append(f"{event.flow} {'reset' if event.reset else 'closed'}{who}")
    return ", ".join(lines)


@pytest.mark.parametrize(
    ("segments", "found"),
    [
        ([*H, back(501, b"answer", ack=104), there(101, b"ask")], "1 opened, > ask, < answer"),
        ([*H, back(501, b"answer", ack=104)], "1 opened, > 3 missing, < answer"),
        ([*H, back(499, b"..ab", ack=111), back(501, b"ab", ack=101)], "1 opened, < ab, > 10 missing"),
        ([*H, there(101, b"a"), *H, there(102, b"b")], "1 opened, > a, > b"),
        ([*H, there(101, b"a"), there(105, b"z"), *handshake(9000), there(9001, b"b")],
         "1 opened, > a, > 3 missing, > z, 1 closed, 2 opened, > b"),
        ([*H, there(101, b"a"), back(501, flags=RESET), there(102), there(109)],
         "1 opened, > a, 1 reset by response"),
        ([*H, there(103, flags=RESET), there(101, b"ab")], "1 opened, > ab, 1 reset by request"),
        ([*H, there(103, b"cd"), back(501, flags=RESET), there(101, b"ab")],
         "1 opened, > ab, > cd, 1 reset by response"),
        ([*H, there(101, b"a"), back(501, flags=RESET), there(101, b"a"), *H[:2]],
         "1 opened, > a, 1 reset by response"),
        ([*H, there(101, b"a"), back(501, flags=RESET), there(102, b"b")],
         "1 opened, > a, 1 reset by response, 2 opened midway, > b"),
        ([*H, back(501, flags=END), there(103, flags=END), there(101, b"ab")],
         "1 opened, > ab, 1 closed by response"),
        ([*H, back(501, flags=END), there(101, b"a"), there(101, b"a", flags=END)],
         "1 opened, > a, 1 closed by response"),
        ([back(900, b"answer", ack=300), there(300, b"ask", ack=906), there(303, b"more", ack=906)],
         "1 opened midway, < answer, > ask, > more"),
        ([there(103, b"cd"), there(101, b"ab"), *H], "1 opened, > ab, > cd"),
        ([there(100, b"a"), there(101, flags=RESET), there(5000, b"b")],
         "1 opened midway, > a, 1 reset by request, 2 opened midway, > b"),
        ([there(2**31, b"old"), *H, there(101, b"new")], "1 opened midway, > old, 1 closed, 2 opened, > new"),
        ([there(2, b"c"), there(0, b"a"), there(1, b"b"), there(2**32 - 1, b"_")],
         "1 opened midway, > _, > a, > b, > c"),
        ([back(2, b"c"), back(0, b"a"), back(1, b"b"), back(2**32 - 1, b"_")],
         "1 opened midway, < _, < a, < b, < c"),
    ],
    ids=["an answer waits for what its sender had received", "its request was not captured", "overlapping",
         "a syn again", "ports again", "a reset", "a reset waits for what is before it",
         "and for what is before the other side's", "what is over comes again", "more of what is over",
         "a fin waits", "a fin with a repetition", "midway", "a handshake behind what follows",
         "over before the beginning is known", "a syn far from what was held back", "the lowest is first",
         "the server's, too"],
)  # fmt: skip
def test_what_segments_bring(segments: list[TcpSegment], found: str) -> None:
    assert words(run(segments)) == found


def test_before_the_end_nothing_is_given_up_but_what_means_nothing() -> None:
    far = back(501, b"x", ack=101 + (1 << 29))  # no number of this conversation
    assert words(run([*H, far], end=False)) == "1 opened, < x"
    assert words(run([*H, back(501, b"x", ack=111)], end=False)) == "1 opened"
    early = [back(503, b"cd", ack=103), there(101, b"ab"), back(501, b"ab", ack=103), *H[::-1]]
    assert words(run(early, end=False)) == "1 opened, > ab, < ab, < cd"
    assert words(run([there(0, b"abcde")], wait_limit=5, end=False)) == "1 opened midway, > abcde"


def test_without_patience_a_gap_is_known_at_once() -> None:
    result = run([*H, there(111, b"x"), back(501, b"y")], wait_limit=0, end=False)
    assert words(result) == "1 opened, > 10 missing, > x, < y"


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
    wait_limit=st.sampled_from([0, 5, 1000]),
)
def test_what_is_missing_is_counted(sizes: list[int], missing: set[int], wait_limit: int) -> None:
    segments, expected, at = [there(2**32 - 5, flags=SYN)], b"", 2**32 - 4
    kept = b""
    for number, size in enumerate(sizes):
        if number in missing:
            expected += b"?" * size
        else:
            segments.append(there(at, b"x" * size))
            kept = expected = expected + b"x" * size
        at += size
    assert stream(run(segments, wait_limit=wait_limit)) == kept


def test_bytes_that_wait_are_bounded() -> None:
    flows = Reassembler(wait_limit=100)
    for segment in handshake():
        list(flows.feed(segment, 0))
    results = [event for n in range(99) for event in flows.feed(there(201 + n, b"x"), 0)]
    assert results == []
    results = list(flows.feed(there(300, b"x"), 0))
    assert results[0] == Gap(1, "request", 0, 100)
    assert stream(results) == b"?" * 100 + b"x" * 100


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
    assert stream(run([*H, there(102, b"later"), *[back(501, ack=101)] * GRACE], end=False)) == b""


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
