"""Test captures of barnabas and of other tools; broken ones end with a CaptureError or normally."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk, Closed, Lost, Opened
from barnabas.captures.writing.flow_headers import FlowHeaders
from barnabas.captures.writing.pcapng import comment_option, interface, packet, section
from barnabas.captures.writing.writer import CaptureWriter
from tests.places import SAMPLES

CLIENT, SERVER = ("10.0.0.1", 50000), ("::2", 9092)
ASK = bytes.fromhex("0000000f 0003 0001 00000007 0001 61 ffffffff")
NOW = 1_700_000_000_000_000_000


def write(path: Path, connections: tuple[int, ...] = (1, 2)) -> Path:
    with CaptureWriter(path, limit=None, meta={"connections": len(connections)}) as capture:
        for number in connections:
            flow = capture.open(number, ("10.0.0.1", 50000 + number), ("10.0.0.2", 9092), NOW, {})
            flow.upstream(("10.0.0.2", 40000 + number), ("10.0.0.3", 9092))
            flow.arrived("request", b"ask", NOW, [(3, {"frame": 0})])
            flow.left("request", b"ASK", NOW, {"frame": 0})
            capture.note(NOW, {"at": number})
            flow.close(NOW)
    return path


def others(path: Path, *, comment: str = "") -> Path:
    """Write a capture of another tool: IPv6, out of order, with packets other than TCP."""
    flow = FlowHeaders(CLIENT, SERVER, 2**32 - 3)
    syn = flow.request.control(2)
    first = flow.request.header(3) + ASK[:3]
    second = flow.request.header(len(ASK) - 3) + ASK[3:]
    flow.request.header(5)
    last = flow.request.header(1) + b"z"
    option = comment_option(comment) if comment else b""
    blocks = [section("taken at noon", "dumpcap"), interface(101)]
    for data in (syn, second, b"\x45 no TCP", first, first, last):
        blocks += map(bytes, packet(NOW, data, b"", option if data is second else b""))
    path.write_bytes(b"".join(blocks))
    return path


def test_a_file_of_others(tmp_path: Path) -> None:
    reader = CaptureReader(others(tmp_path / "f", comment="look here"))
    assert list(reader) == [
        Opened(1, NOW, "[::ffff:10.0.0.1]:50000", "[::2]:9092", {}),
        Chunk(1, "arrived", "request", NOW, ASK[:3], (), 4),
        Chunk(1, "arrived", "request", NOW, ASK[3:], ({"text": "look here"},), 2),
        Lost(1, "arrived", "request", NOW, 5),
        Chunk(1, "arrived", "request", NOW, b"z", (), 6),
    ]
    assert (reader.meta, reader.packets.foreign, reader.truncated) == ({}, 1, False)


@pytest.mark.parametrize("text", ["[1]", "null", "{", '{"a":' * 100_000, "9" * 5000])
def test_comments_that_are_no_objects(tmp_path: Path, text: str) -> None:
    events = list(CaptureReader(others(tmp_path / "f", comment=text)))
    assert isinstance(events[2], Chunk)
    assert events[2].comments == ({"text": text},)


def test_linked_flows_and_the_beginning(tmp_path: Path) -> None:
    reader = CaptureReader(write(tmp_path / "f"))
    assert reader.beginning() == NOW
    met = [dict(reader.linked) for event in reader if isinstance(event, Closed)]
    assert met == [{}, {}]  # the first is closed before the second begins
    events = iter(reader)
    while not isinstance(event := next(events), Chunk) or event.flow != "left":
        assert not reader.linked
    name = {"barnabas": "flow", "connection": 1, "flow": "left"}
    assert reader.linked == {1: (("10.0.0.2", 40001), ("10.0.0.3", 9092), name)}


def test_files_put_one_behind_the_other(tmp_path: Path) -> None:
    one = write(tmp_path / "one", (1, 2)).read_bytes()
    two = write(tmp_path / "two", (1,)).read_bytes()
    other = others(tmp_path / "other").read_bytes()
    (tmp_path / "all").write_bytes(one + two + other)
    reader = CaptureReader(tmp_path / "all")
    opened = [event.connection for event in reader if isinstance(event, Opened)]
    assert opened == [1, 2, 3, 4]
    assert [event.connection for event in reader if isinstance(event, Closed)] == [1, 2, 3]
    assert reader.meta == {"barnabas": 1, "connections": 2}


def test_a_later_format(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(section('{"barnabas":2}', "barnabas 9"))
    with pytest.raises(CaptureError, match="format 2, written by a newer barnabas"):
        CaptureReader(tmp_path / "f")


def test_packets_are_counted_while_a_capture_is_read() -> None:
    reader = CaptureReader(SAMPLES / "faults.pcapng")
    events = iter(reader)
    for _ in range(10):
        next(events)
    counted = reader.numbered
    list(events)
    assert 0 < counted < reader.numbered
