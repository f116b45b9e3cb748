"""Test that blocks that do not fit are lost until half of the ring is free; then another segment begins."""

from __future__ import annotations

import io
import sys
from functools import partial

import pytest

from barnabas.captures.comments import document, names_flow
from barnabas.captures.files.pcapng import Packet, Section, Statistics, each
from barnabas.captures.files.pcapng_file import read_runs
from barnabas.captures.live.lock import RecordLock
from barnabas.captures.live.ring import Ring
from barnabas.captures.live.sink import RingSink
from barnabas.captures.live.writer import RingWriter
from barnabas.captures.tcp.headers import parse
from barnabas.captures.writing.writer import head
from tests.captures.live.forked import forked, over

CLIENT, LISTENER = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
NOW = 1_700_000_000_000_000_000


def put(sink: RingSink, data: bytes) -> bool:
    """Put data like a flow, which introduces itself where another segment has begun."""
    assert sink.segment
    return sink.put([data], 1, len(data))


def two_sinks() -> tuple[Ring, RingSink, RingSink]:
    ring = Ring(16)
    return ring, RingSink(ring, lambda: b"H"), RingSink(ring, lambda: b"H")


def test_it_says_when_less_than_a_quarter_is_free() -> None:
    ring, low = Ring(16), list[int]()
    sink = RingSink(ring, lambda: b"", lambda: low.append(ring.free))
    put(sink, bytes(12))
    assert low == []
    put(sink, b"1")
    assert low == [4]


def test_another_process_sees_the_segment_and_that_something_is_missing() -> None:
    ring, one, other = two_sinks()
    assert (one.segment, other.segment) == (1, 1), "who comes later begins no segment"
    assert one.put([b"0123456789"], 1, 10)
    assert not other.put([b"abcdef"], 1, 6)
    assert not one.put([b"a"], 1, 1), "something of the other is missing before it"
    assert ring.lossy
    assert _all(ring) == b"H0123456789"
    assert not other.put([b"x"], 1, 1), "its flow is not introduced in the new segment"
    assert not one.put([b"y"], 1, 1), "nor is this"
    assert (one.segment, other.segment) == (2, 2)
    assert one.put([b"z"], 1, 1)
    assert _all(ring) == b"Hz"
    assert (one.stats.packets, one.stats.lost_packets, one.stats.lost_bytes) == (2, 2, 2)
    assert (other.stats.packets, other.stats.lost_packets, other.stats.lost_bytes) == (0, 2, 7)


def test_another_reader_finds_a_segment_and_nothing_before_it() -> None:
    ring, one, other = two_sinks()
    put(one, b"old")
    other.begin_again()
    assert (one.segment, _all(ring)) == (2, b"H")


def test_nothing_begins_while_nobody_wants_it() -> None:
    ring, sink, _ = two_sinks()
    assert put(sink, b"0123456789")
    assert not put(sink, b"too much")
    sink.ring.idle = True
    _all(ring)
    assert not put(sink, b"a")
    assert (_all(ring), sink.segment, sink.stats.lost_packets) == (b"", 1, 1)


def test_what_nobody_wants_is_not_lost_and_who_wants_it_then_finds_a_segment() -> None:
    ring, sink, _ = two_sinks()
    sink.rest(True)
    assert not put(sink, b"a")
    sink.rest(False)
    assert put(sink, b"b")
    assert (_all(ring), sink.segment, sink.stats.lost_packets) == (b"HHb", 2, 0)


def test_a_segment_that_finds_no_room_begins_when_half_is_free() -> None:
    ring = Ring(16)
    sink = RingSink(ring, lambda: b"HE")
    assert put(sink, b"0123456789abc")
    sink.begin()
    assert not put(sink, b"a")
    assert _all(ring) == b"HE0123456789abc"
    assert not put(sink, b"x")
    assert put(sink, b"y")
    assert (_all(ring), sink.segment) == (b"HEy", 2)


def test_who_dies_while_a_segment_begins_leaves_no_segment_that_nobody_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ring, one, other = two_sinks()
    assert other.segment == 1
    with monkeypatch.context() as patch:
        append = ring.append
        patch.setattr(ring, "append", lambda *args: (append(*args), sys.exit()))
        with pytest.raises(SystemExit):
            one.begin()
    assert not other.put([b"x"], 1, 1), "behind a head, its flow is not introduced"
    assert put(other, b"y")
    assert _all(ring) == b"HHy"


CHUNKS, EVERY = 6000, 40


def _write(ring: Ring, connection: int) -> None:
    """Write a connection of numbered requests, with occasional new segments, and finally the losses."""
    sink = RingSink(ring, lambda: head({}))
    writer = RingWriter(sink)
    flow = writer.open(connection, (CLIENT[0], CLIENT[1] + connection), LISTENER, NOW, {})
    for number in range(CHUNKS):
        if flow.behind:
            flow.go_on(NOW, {"frames": {}})
        flow.arrived("request", number.to_bytes(4), NOW)
        if number % EVERY == connection:
            sink.begin()
    assert writer.note(NOW, {"port": CLIENT[1] + connection, "lost": sink.stats.lost_bytes})


def test_processes_write_while_segments_begin() -> None:
    ring = Ring(8 << 20, RecordLock())
    RingSink(ring, lambda: head({}))
    with forked(*(partial(_write, ring, connection) for connection in (1, 2))) as pids:
        while not over(pids):
            pass
    said: dict[int, list[int]] = {}
    lost: dict[int, int] = {}
    sections = 0
    named = set[int]()
    for block in each(read_runs(io.BytesIO(_all(ring)))):
        if isinstance(block, Section):
            sections += 1
            named.clear()
        elif isinstance(block, Statistics):
            [text] = block.comments
            lost[document(text)["port"]] = document(text)["lost"]
        elif isinstance(block, Packet):
            tcp = parse(block.linktype, block.data)
            assert tcp is not None
            [port] = {tcp.source[1], tcp.target[1]} - {LISTENER[1]}
            if any(names_flow(document(text)) for text in block.comments):
                named.add(port)
            assert port in named
            if tcp.payload:
                said.setdefault(port, []).append(int.from_bytes(tcp.payload))
    assert sections == 1 + 2 * CHUNKS // EVERY
    for port, numbers in said.items():
        assert numbers == sorted(set(numbers)), "each once, in order"
        assert lost[port] == 4 * (CHUNKS - len(numbers))
    assert not ring.lossy


def _all(ring: Ring) -> bytes:
    into = bytearray(ring.size)
    return bytes(into[: ring.take(into)])
