"""Test that a capture of several processes reads like the capture of one."""

from __future__ import annotations

import io
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.files.pcapng import Packet, Statistics, each
from barnabas.captures.files.pcapng_file import read_runs
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.live.capture_ring import CapturePump, CaptureRingSink
from barnabas.captures.live.lock import RecordLock
from barnabas.captures.live.ring import Ring
from barnabas.captures.live.writer import RingWriter
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk, Closed, Lost, Note, Opened
from barnabas.captures.writing.block_sink import Behind
from barnabas.captures.writing.flow_writer import FlowWriter
from barnabas.captures.writing.rotation import Rotation
from barnabas.captures.writing.writer import CaptureWriter
from tests.captures.live.closing import Closing
from tests.captures.live.forked import forked, over
from tests.captures.traffic import request, response
from tests.captures.writing.disk import Choosy
from tests.waiting import until

CLIENT, LISTENER = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
NOW = 1_700_000_000_000_000_000
ROUNDS = 300
WORKS = (range(1, 4), range(4, 7), range(7, 10))


def write(capture: CaptureWriter | RingWriter, connections: range) -> None:
    """Write connections with some requests, each after the response to the one before."""
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
    """Return the exchanges of each connection, in order."""
    found: dict[int, list[tuple[Exchange, int]]] = {}
    for exchange in open_capture(path).exchanges():
        found.setdefault(exchange.connection, []).append((exchange, exchange.ordinal))
    return found


@pytest.mark.parametrize("rotation", [None, Rotation(size=20_000), Rotation(age=10**6)])
def test_it_reads_as_that_of_one_writer(tmp_path: Path, rotation: Rotation | None) -> None:
    with CaptureWriter(tmp_path / "one", limit=None, meta={}) as alone:
        for numbers in WORKS:
            write(alone, numbers)
    ring = Ring(1 << 20, RecordLock())
    pump, _ = pumped(tmp_path / "f", ring, rotation=rotation, capture="2d4e")
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


def pumped(path: Path, ring: Ring, **options: Any) -> tuple[CapturePump, RingWriter]:
    """Return the pump of a ring to a capture, and a writer to the ring."""
    capture = CaptureWriter(path, **({"limit": None, "meta": {}} | options))
    return CapturePump(ring, capture), RingWriter(CaptureRingSink(ring))


def begun(path: Path, size: int = 1 << 16, **options: Any) -> tuple[Ring, CapturePump, FlowWriter]:
    """Return a ring and its pump with an open connection."""
    ring = Ring(size)
    pump, writer = pumped(path, ring, **options)
    return ring, pump, writer.open(1, CLIENT, LISTENER, NOW, {})


def _write_in(ring: Ring, connections: range) -> None:
    write(RingWriter(CaptureRingSink(ring)), connections)


def test_what_finds_no_room_is_a_gap_that_is_counted_once(tmp_path: Path) -> None:
    _, pump, flow = begun(tmp_path / "f", 4096)
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


def test_a_capture_that_stops_counts_what_comes_later(tmp_path: Path) -> None:
    ring, pump, flow = begun(tmp_path / "f", limit=2000)
    pump.start()
    until(lambda: not ring.waiting)
    for size in (3000, 10):
        flow.arrived("request", bytes(size), NOW)
    until(lambda: pump.stats.stopped is not None)
    flow.arrived("request", bytes(100), NOW)
    pump.close()
    assert pump.stats.stopped == "it reached its size limit"
    assert (pump.stats.lost_packets, pump.stats.lost_bytes) == (3, 3110)
    assert ring.segment == 1, "nobody is introduced to a file that is over"
    assert (tmp_path / "f").stat().st_size <= 2000
    reader = CaptureReader(tmp_path / "f")
    assert [type(event) for event in reader] == [Opened]
    [account] = [note.comment for note in reader.notes]
    assert (account["packets"], account["bytes"]) == (3, 3110)


def test_what_the_disk_did_not_take_in_time_may_have_named_a_flow(tmp_path: Path) -> None:
    sinks = list[Choosy]()

    def make(*args: Any, **options: Any) -> Choosy:
        sinks.append(Choosy(*args, **options))
        return sinks[-1]

    _, pump, flow = begun(tmp_path / "f", sink=make)
    [sink] = sinks
    flow.arrived("request", b"abc", NOW)
    sink.refuse = True
    assert not flow.behind
    pump.start()
    until(lambda: flow.behind)
    sink.refuse = False
    flow.arrived("request", b"def", NOW)
    pump.close()
    events = list(CaptureReader(tmp_path / "f"))
    chunks = [event for event in events if isinstance(event, Chunk)]
    assert [(chunk.connection, chunk.data) for chunk in chunks] == [(1, b"def")]
    assert (pump.stats.lost_packets, pump.stats.lost_bytes) == (5, 3)


def test_a_note_stands_behind_what_was_put_before(tmp_path: Path) -> None:
    ring = Ring(1 << 16)
    pump, writer = pumped(tmp_path / "f", ring)
    flow = writer.open(1, CLIENT, LISTENER, NOW, {})
    flow.arrived("request", b"abc", NOW)
    ring.anew()
    assert writer.note(NOW, {"barnabas": "fire", "rule": "r"}), "a note is never late"
    pump.start()
    pump.close()
    blocks = each(read_runs(io.BytesIO((tmp_path / "f").read_bytes())))
    kinds = [type(block) for block in blocks if isinstance(block, Packet | Statistics)]
    assert kinds == [Packet] * 5 + [Statistics]


def test_what_came_just_before_the_end_is_written(tmp_path: Path) -> None:
    ring = Closing(1 << 16)
    pump, writer = pumped(tmp_path / "f", ring)
    ring.last = lambda: writer.open(1, CLIENT, LISTENER, NOW, {}).arrived("request", b"abc", NOW)
    pump.start()
    pump.close()
    chunks = [event for event in CaptureReader(tmp_path / "f") if isinstance(event, Chunk)]
    assert [chunk.data for chunk in chunks] == [b"abc"]


def test_later_segments_say_what_was_kept(tmp_path: Path) -> None:
    listens = {"barnabas": "listener", "node": 1, "host": "h", "port": 1}
    rotation = Rotation(size=1000)
    pump, writer = pumped(tmp_path / "f", Ring(1 << 16), rotation=rotation, capture="2d4e")
    pump.keep(NOW, listens)
    assert writer.note(NOW, listens)
    flow = writer.open(1, CLIENT, LISTENER, NOW, {})
    for _ in range(4):
        flow.arrived("request", bytes(600), NOW)
    pump.start()
    pump.close()
    files = sorted((tmp_path / "f").iterdir())
    assert len(files) == 3
    noted = [[note.comment for note in _notes(path)] for path in files]
    assert noted == [[listens]] * 3
    assert [note.comment for note in _notes(tmp_path / "f")] == [listens]


def test_a_writer_that_is_killed_leaves_a_file_of_whole_blocks(tmp_path: Path) -> None:
    ring = Ring(1 << 20, RecordLock())
    pump, _ = pumped(tmp_path / "f", ring, rotation=Rotation(size=20_000), capture="2d4e")
    works = [partial(_write_in, ring, WORKS[0]), partial(_write_for_ever, ring)]
    with forked(*works) as pids:
        pump.start()
        steady = pids[:1]
        while not over(steady):
            pass
        del pids[0]
        before = ring.written
        until(lambda: ring.written > before)
    pump.close()
    with CaptureWriter(tmp_path / "one", limit=None, meta={}) as alone:
        write(alone, WORKS[0])
    found = exchanges(tmp_path / "f")
    assert {number: found[number] for number in WORKS[0]} == exchanges(tmp_path / "one")
    assert max(found) > max(WORKS[0])
    assert (pump.stats.lost_packets, pump.stats.stopped) == (0, None)


def _write_for_ever(ring: Ring) -> None:
    writer = RingWriter(CaptureRingSink(ring))
    for number in count(10):
        while ring.free < 1 << 18:
            pass
        write(writer, range(number, number + 1))


def _notes(path: Path) -> list[Note]:
    reader = CaptureReader(path)
    list(reader)
    return reader.notes


def test_a_capture_takes_what_fits_of_what_came_together(tmp_path: Path) -> None:
    _, pump, flow = begun(tmp_path / "f", limit=2000)
    for _ in range(20):
        flow.arrived("request", bytes(100), NOW)
    pump.start()
    pump.close()
    read = [event for event in CaptureReader(tmp_path / "f") if isinstance(event, Chunk)]
    assert pump.stats.stopped == "it reached its size limit"
    assert 2000 - 320 - 180 < pump.stats.bytes <= 2000
    assert pump.stats.lost_bytes == 2000 - 100 * len(read)
    assert pump.stats.lost_packets == 20 - len(read) < 15


def test_who_writes_for_a_segment_that_is_over_is_told_and_nothing_is_written() -> None:
    ring = Ring(1 << 16)
    ring.divide(4)
    one, other = CaptureRingSink(ring), CaptureRingSink(ring)
    assert (one.segment, other.segment) == (1, 1)
    assert one.put([b"ab"], 1, 1)
    assert one.put([b"cd"], 1, 2)
    with pytest.raises(Behind):
        other.put([b"ef"], 1, 4)
    with pytest.raises(Behind):
        one.put([b"gh"], 1, 4)
    assert other.put([b"note"], 0, 0), "a note is never late"
    assert (one.segment, other.segment) == (3, 3)
    assert other.put([b"ij"], 1, 8)
    assert b"".join(ring.peek()) == b"abcdnoteij"
    assert (ring.put, ring.lost) == ((3, 11), (0, 0))


def test_what_was_put_is_written_though_the_pump_was_never_started(tmp_path: Path) -> None:
    _, pump, flow = begun(tmp_path / "f")
    flow.arrived("request", b"abc", NOW)
    pump.close()
    assert pump.stats.stopped is None
    assert [type(event) for event in CaptureReader(tmp_path / "f")] == [Opened, Chunk]
