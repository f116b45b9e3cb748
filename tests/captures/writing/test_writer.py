"""Test that written bytes, times, comments and losses are read back."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.files.pcapng import Buffer, Packet, Section, each
from barnabas.captures.files.pcapng_file import read_runs
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk, Closed, Lost, Opened
from barnabas.captures.tcp.headers import parse
from barnabas.captures.writing.flow_headers import HANDSHAKE, SEGMENT
from barnabas.captures.writing.flow_writer import FlowWriter
from barnabas.captures.writing.sink import FileSystem, Sink
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.specs.frames import Direction
from tests.captures.writing.disk import Choosy

CLIENT, LISTENER = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
LOCAL, BROKER = ("fe80::2", 41000), ("fe80::3", 9093)
NOW = 1_700_000_000_123_456_789


@dataclass
class Heard:
    """One direction of one flow: the bytes, and the comments by the position where they stand."""

    data: bytes = b""
    comments: list[tuple[int, dict[str, Any]]] = field(default_factory=list)


def heard(path: Path) -> dict[tuple[int, str, str], Heard]:
    found: dict[tuple[int, str, str], Heard] = {}
    for event in CaptureReader(path):
        assert not isinstance(event, Lost)
        if isinstance(event, Chunk):
            side = found.setdefault((event.connection, event.flow, event.direction), Heard())
            side.data += event.data
            side.comments += [(len(side.data), comment) for comment in event.comments]
    return found


def begin(capture: CaptureWriter, connection: int = 1) -> FlowWriter:
    client, local = (CLIENT[0], CLIENT[1] + connection), (LOCAL[0], LOCAL[1] + connection)
    flow = capture.open(connection, client, LISTENER, NOW, {"broker": 2})
    flow.upstream(local, BROKER)
    return flow


sizes = st.integers(0, 40) | st.sampled_from([SEGMENT - 1, SEGMENT, SEGMENT + 1, 262_144])
comments = st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5), max_size=2)
steps = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.booleans(),
        st.sampled_from(["request", "response"]),
        sizes,
        st.lists(st.tuples(st.floats(0, 1), comments), max_size=3),
    ),
    max_size=8,
)


@given(steps)
def test_what_is_written_is_read_back(
    tmp_path: Path, raw: list[tuple[int, bool, Direction, int, list[tuple[float, dict[str, Any]]]]]
) -> None:
    path = tmp_path / "f"
    expected: dict[tuple[int, str, str], Heard] = {}
    buffer = bytearray(262_144)
    with CaptureWriter(path, limit=None, meta={}) as capture:
        flows = {n: begin(capture, n) for n in (1, 2, 3)}
        for number, (connection, arrived, direction, size, places) in enumerate(raw):
            data = bytes([number]) * size
            buffer[:size] = data  # one buffer for all, as in the proxy
            chunk = memoryview(buffer)[:size]
            cuts = [(int(at * size), comment) for at, comment in places]
            cuts.sort(key=lambda cut: cut[0])
            if arrived:
                flows[connection].arrived(direction, chunk, NOW, cuts)
            else:
                cuts = [(size, {"frame": number})]
                flows[connection].left(direction, chunk, NOW, cuts[0][1])
            if size or cuts:
                place = (connection, "arrived" if arrived else "left", direction)
                side = expected.setdefault(place, Heard())
                side.comments += [(len(side.data) + at, comment) for at, comment in cuts]
                side.data += data
        for flow in flows.values():
            flow.close(NOW)
    assert heard(path) == expected


def test_the_events_of_a_connection(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with CaptureWriter(path, limit=None, meta={"seed": 7}) as capture:
        flow = begin(capture, 3)
        flow.arrived("request", b"abcdef", NOW + 1, [(4, {"frame": 0})])
        flow.left("request", b"ABCD", NOW + 2, {"frame": 0})
        capture.note(NOW + 3, {"scenario": "again"})
        flow.close(NOW + 4)
        flow.close(NOW + 5)
    assert capture.stats.packets == HANDSHAKE + 2 + HANDSHAKE + 1 + 3 + 3
    assert capture.stats.bytes == path.stat().st_size
    reader = CaptureReader(path)
    about = {"barnabas": "flow", "connection": 3, "flow": "arrived", "broker": 2}
    assert list(reader) == [
        Opened(3, NOW, "10.0.0.1:50003", "10.0.0.2:9092", about),
        Chunk(3, "arrived", "request", NOW + 1, b"abcd", ({"frame": 0},), 5),
        Chunk(3, "arrived", "request", NOW + 1, b"ef", (), 6),
        Chunk(3, "left", "request", NOW + 2, b"ABCD", ({"frame": 0},), 11),
        Closed(3, NOW + 4, False),
    ]
    assert reader.meta == {"barnabas": 1, "seed": 7}
    assert [tuple(note) for note in reader.notes] == [(NOW + 3, {"scenario": "again"})]
    with path.open("rb") as file:
        first = next(each(read_runs(file)))
    assert isinstance(first, Section)
    assert first.application.startswith("barnabas ")


def test_what_the_linked_flow_says_of_itself(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path / "f", limit=None, meta={}) as capture:
        flow = capture.open(3, CLIENT, LISTENER, NOW, {})
        with pytest.raises(RuntimeError, match="left before upstream"):
            flow.left("request", b"x", NOW, {})
        flow.upstream(LOCAL, BROKER, {"broker": 5})
        flow.left("request", b"x", NOW, {})
        flow.close(NOW, reset=True)
    assert list(CaptureReader(tmp_path / "f"))[-1] == Closed(3, NOW, True)
    with (tmp_path / "f").open("rb") as file:
        packets = [block for block in each(read_runs(file)) if isinstance(block, Packet)]
    assert packets[HANDSHAKE].comments == (
        '{"barnabas":"flow","connection":3,"flow":"left","broker":5}',
    )
    segment = parse(101, packets[HANDSHAKE].data)
    assert segment is not None
    assert (segment.source, segment.target) == (LOCAL, BROKER)


def test_comments_of_any_kind_and_length(tmp_path: Path) -> None:
    said: list[dict[str, Any]] = [
        {"what": "ä" * 70_000},
        {"lone": "\udc80"},
        {"path": Path("x")},
        {"line": "a\nb"},
    ]
    with CaptureWriter(tmp_path / "f", limit=None, meta={"scenario": "ü" * 200_000}) as capture:
        begin(capture).arrived("request", b"abcd", NOW, [(2, comment) for comment in said])
    side = heard(tmp_path / "f")[1, "arrived", "request"]
    assert side.comments == [(2, c) for c in (*said[:2], {"path": "x"}, said[3])]
    assert CaptureReader(tmp_path / "f").meta["scenario"] == "ü" * 200_000


@pytest.mark.parametrize("size", range(65_525, 65_537))
def test_comments_at_one_place_stay_apart(tmp_path: Path, size: int) -> None:
    said: list[dict[str, Any]] = [{"k": "x" * (size - len('{"k":""}'))}, {"k": 2}]
    with CaptureWriter(tmp_path / "f", limit=None, meta={}) as capture:
        begin(capture).arrived("request", b"ab", NOW, [(2, comment) for comment in said])
    side = heard(tmp_path / "f")[1, "arrived", "request"]
    assert side.comments == [(2, comment) for comment in said]


def test_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with CaptureWriter(path, limit=5_000, meta={}) as capture:
        flow = begin(capture)
        for _ in range(5):
            flow.arrived("request", bytes(1000), NOW)
        flow.arrived("request", bytes(100_000), NOW)
        flow.close(NOW)
    stats = capture.stats
    assert (stats.packets, stats.stopped) == (HANDSHAKE + 3, "it reached its size limit")
    assert (stats.lost_packets, stats.lost_bytes) == (2 + 2 + 3, 102_000)
    assert path.stat().st_size <= 5_000
    reader = CaptureReader(path)
    assert sum(len(event.data) for event in reader if isinstance(event, Chunk)) == 3000
    (note,) = reader.notes
    said = {
        "barnabas": "lost",
        "packets": 7,
        "bytes": 102_000,
        "stopped": "it reached its size limit",
    }
    assert note.comment == said
    assert not reader.truncated


class Full:
    """A disk that has so many bytes left."""

    def __init__(self, room: int) -> None:
        self.room = room

    def writev(self, file: int, buffers: Sequence[Buffer]) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = os.write(file, b"".join(buffers)[: self.room])
        self.room -= done
        return done


@given(st.integers(1000, 6000))
def test_a_full_disk_leaves_a_file_that_can_be_read(tmp_path: Path, room: int) -> None:
    path = tmp_path / "f"
    sink = functools.partial(Sink, system=FileSystem(writev=Full(room).writev))
    with CaptureWriter(path, limit=None, meta={}, sink=sink) as capture:
        flow = begin(capture)
        for _ in range(7):
            flow.arrived("request", bytes(1000), NOW)
    assert capture.stats.stopped == os.strerror(errno.ENOSPC)
    assert capture.stats.lost_bytes == 7000 - 1000 * (capture.stats.packets - HANDSHAKE)
    assert path.stat().st_size <= room
    reader = CaptureReader(path)
    kept = sum(len(event.data) for event in reader if isinstance(event, Chunk))
    assert kept == 1000 * (capture.stats.packets - HANDSHAKE)
    assert not reader.truncated


def test_a_loss_leaves_a_gap_and_the_flow_keeps_its_name(tmp_path: Path) -> None:
    made: list[Choosy] = []

    def sink(path: Path, head: bytes, **options: Any) -> Sink:
        made.append(Choosy(path, head, **options))
        return made[0]

    with CaptureWriter(tmp_path / "f", limit=None, meta={}, sink=sink) as capture:
        made[0].refuse = True
        flow = begin(capture)
        flow.arrived("request", b"abc", NOW)
        made[0].refuse = False
        flow.arrived("request", b"def", NOW)
        made[0].refuse = True
        flow.arrived("request", b"ghij", NOW)
        flow.left("response", b"abcde", NOW, {})
        made[0].refuse = False
        flow.left("response", b"f", NOW, {})
        flow.arrived("request", b"k", NOW)
    opened, *rest = CaptureReader(tmp_path / "f")
    assert isinstance(opened, Opened)
    assert rest == [
        Lost(1, "arrived", "request", NOW, 3),
        Chunk(1, "arrived", "request", NOW, b"def", (), 5),
        Lost(1, "left", "response", NOW, 5),
        Chunk(1, "left", "response", NOW, b"f", ({},), 10),
        Lost(1, "arrived", "request", NOW, 4),
        Chunk(1, "arrived", "request", NOW, b"k", (), 11),
    ]
