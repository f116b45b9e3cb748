"""A capture that several processes write reads as if one had written it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.comments import document, names_flow
from barnabas.captures.files.pcapng import Packet, each
from barnabas.captures.files.pcapng_file import read_runs
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.live.capture_ring import CapturePump, CaptureRingSink
from barnabas.captures.live.lock import RecordLock
from barnabas.captures.live.ring import Ring
from barnabas.captures.live.writer import RingWriter
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk, Closed, Lost, Opened
from barnabas.captures.tcp.headers import TcpSegment, parse
from barnabas.captures.writing.flow_writer import FlowWriter
from barnabas.captures.writing.rotation import Rotation
from barnabas.captures.writing.writer import CaptureWriter, head
from tests.captures.live.forked import forked, over
from tests.captures.traffic import request, response

CLIENT, LISTENER = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
NOW = 1_700_000_000_000_000_000
ROUNDS = 300
WORKS = (range(1, 4), range(4, 7), range(7, 10))


def write(capture: CaptureWriter | RingWriter, connections: range) -> None:
    """Connections with some requests, each of which waits for its response."""
    flows = {
        number: capture.open(number, ("10.0.0.1", 50000 + number), LISTENER, NOW, {"broker": 1})
        for number in connections
    }
    for turn in range(ROUNDS):
        known: dict[str, Any] = {"request": [turn, 0], "response": [turn, 0]}
        for number, flow in flows.items():
            correlation, now = number * ROUNDS + turn, NOW + 1000 * turn + number
            if flow.behind:
                flow.go_on(now, {"frames": known, "waiting": []})
            flow.arrived("request", request(correlation, 3, 1, topics=None), now)
            if flow.behind:
                asked = {**known, "request": [turn + 1, 0]}
                flow.go_on(now, {"frames": asked, "waiting": [[correlation, 3, 1]]})
            flow.arrived("response", response(correlation, 3, 1), now + 10)
    for flow in flows.values():
        flow.close(NOW + 1000 * ROUNDS)


def exchanges(path: Path) -> dict[int, list[tuple[Exchange, int]]]:
    """Of each connection, in order."""
    found: dict[int, list[tuple[Exchange, int]]] = {}
    for exchange in open_capture(path).exchanges():
        found.setdefault(exchange.connection, []).append((exchange, exchange.ordinal))
    return found


@pytest.mark.parametrize("rotation", [None, Rotation(size=20_000), Rotation(age=10**6)])
def test_it_reads_as_that_of_one_writer(tmp_path: Path, rotation: Rotation | None) -> None:
    with CaptureWriter(tmp_path / "one", limit=None, meta={}) as alone:
        for numbers in WORKS:
            write(alone, numbers)
    capture = CaptureWriter(tmp_path / "f", limit=None, meta={}, rotation=rotation, capture="2d4e")
    ring = Ring(1 << 20, RecordLock())
    pump = CapturePump(ring, capture)
    works = [partial(_write_in, ring, numbers) for numbers in WORKS]
    with forked(*works) as pids:
        pump.start()
        while not over(pids):
            pass
    pump.close()
    assert (pump.stats.lost_packets, pump.stats.stopped) == (0, None)
    assert exchanges(tmp_path / "f") == exchanges(tmp_path / "one")
    if rotation is None:
        assert pump.stats.packets == alone.stats.packets
        return
    files = sorted((tmp_path / "f").iterdir())
    assert len(files) > 1
    assert sorted(pump.look(0)) == files
    for path in files[1:-1]:
        assert min(event.connection for event in CaptureReader(path)) > 0, "each has its name"
        gaps = [event for event in CaptureReader(path) if isinstance(event, Lost)]
        assert not any(gap.bytes for gap in gaps), "no bytes are missing"


def _write_in(ring: Ring, connections: range) -> None:
    write(RingWriter(CaptureRingSink(ring)), connections)


def test_what_finds_no_room_is_a_gap_that_is_counted_once(tmp_path: Path) -> None:
    capture = CaptureWriter(tmp_path / "f", limit=None, meta={})
    ring = Ring(4096)
    pump = CapturePump(ring, capture)
    flow = RingWriter(CaptureRingSink(ring)).open(1, ("10.0.0.1", 1), LISTENER, NOW, {})
    flow.arrived("request", b"abc", NOW)
    flow.arrived("request", bytes(5000), NOW)
    flow.arrived("request", b"def", NOW)
    flow.close(NOW)
    pump.keep(NOW, {})
    pump.start()
    pump.close()
    assert (pump.stats.lost_packets, pump.stats.lost_bytes) == (1, 5000)
    assert pump.state.path == str(tmp_path / "f")
    reader = CaptureReader(tmp_path / "f")
    opened, *rest = reader
    assert isinstance(opened, Opened)
    assert rest == [
        Chunk(1, "arrived", "request", NOW, b"abc", (), 5),
        Lost(1, "arrived", "request", NOW, 5000),
        Chunk(1, "arrived", "request", NOW, b"def", (), 6),
        Closed(1, NOW, False),
    ]
    [account] = [note.comment for note in reader.notes]
    assert account == {"barnabas": "lost", "packets": 1, "bytes": 5000, "stopped": None}


def test_what_the_file_loses_has_flows_introduced_again(tmp_path: Path) -> None:
    capture = CaptureWriter(tmp_path / "f", limit=2000, meta={})
    ring = Ring(1 << 16)
    pump = CapturePump(ring, capture)
    flow = RingWriter(CaptureRingSink(ring)).open(1, ("10.0.0.1", 1), LISTENER, NOW, {})
    flow.arrived("request", bytes(4000), NOW)
    behind = [flow.behind]
    pump.start()
    pump.close()
    assert [*behind, flow.behind] == [False, True]
    assert pump.stats.stopped == "it reached its size limit"
    assert pump.stats.lost_bytes == 4000
    assert (tmp_path / "f").stat().st_size <= 2000


class Meanwhile(contextlib.AbstractContextManager[None]):
    """A lock; before it is had the next time, somebody else has it and does something."""

    def __init__(self) -> None:
        self.todo: list[Callable[[], object]] = []

    def __enter__(self) -> None:
        if self.todo:
            self.todo.pop()()

    def __exit__(self, *_: object) -> None:
        pass


def arrive(flow: FlowWriter) -> None:
    flow.arrived("request", b"tail", NOW)


def arrive_with_a_comment(flow: FlowWriter) -> None:
    flow.arrived("request", b"tail", NOW, [(2, {"frame": 1})])


def close(flow: FlowWriter) -> None:
    flow.close(NOW)


@pytest.mark.parametrize("others", [1, 3])
@pytest.mark.parametrize("act", [arrive, arrive_with_a_comment, close])
def test_a_flow_that_is_late_introduces_itself_and_loses_nothing(
    act: Callable[[FlowWriter], None], others: int
) -> None:
    lock = Meanwhile()
    ring = Ring(1 << 16, lock)
    ring.divide(None)
    flow = RingWriter(CaptureRingSink(ring)).open(1, CLIENT, LISTENER, NOW, {})
    flow.arrived("request", b"head", NOW)
    flow.arrived("response", b"answer", NOW)
    before = ring.written
    lock.todo = [ring.anew] * others
    act(flow)
    ring.drop(before)
    named, *rest = packets(ring)
    assert any(names_flow(document(text)) for text in named.comments)
    seq = document(named.comments[0])["goes_on"]["seq"]
    assert seq == [(1 << 16) + 5, (1 << 16) + 7], "as it was before"
    requests = [packet for packet in map(tcp, rest) if packet.source[1] == CLIENT[1]]
    assert requests[0].seq == seq[0]
    assert b"".join(packet.payload for packet in requests) == (b"" if act is close else b"tail")
    assert ring.lost == (0, 0)


def test_a_connection_that_begins_with_a_segment_is_named_in_it() -> None:
    lock = Meanwhile()
    ring = Ring(1 << 16, lock)
    ring.divide(None)
    lock.todo = [ring.anew]
    flow = RingWriter(CaptureRingSink(ring)).open(1, CLIENT, LISTENER, NOW, {})
    assert not ring.waiting
    flow.arrived("request", b"head", NOW)
    first, *_, last = packets(ring)
    assert any(names_flow(document(text)) for text in first.comments)
    assert tcp(last).payload == b"head"


def packets(ring: Ring) -> list[Packet]:
    data = head({}) + b"".join(ring.peek())
    return [block for block in each(read_runs(io.BytesIO(data))) if isinstance(block, Packet)]


def tcp(packet: Packet) -> TcpSegment:
    found = parse(packet.linktype, packet.data)
    assert found is not None
    return found
