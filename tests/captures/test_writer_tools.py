"""Test that tshark and scapy open written captures, see the same content, and report nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from barnabas.captures.writing.flow_headers import SEGMENT
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.specs.frames import Direction

NOW = 1_700_000_000_123_456_789
ENDS = (
    (("10.0.0.1", 50000), ("10.0.0.2", 19092), ("10.0.0.2", 41000), ("10.0.0.3", 9093)),
    (("fe80::1", 50000), ("fe80::2", 19092), ("fe80::2", 41000), ("fe80::3", 9093)),
)
COMMENT = '{"frame":5,"rules":["slow fetches ü"],"left":"later"}'
CHUNKS = (b"ask", bytes(range(256)) * 1024, b"x", b"yz" * SEGMENT)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Two connections with all that can be in a file, twice on the same ports."""
    path = tmp_path / "f.pcapng"
    with CaptureWriter(path, limit=None, meta={"scenario": "rules: []"}) as capture:
        for number, (client, listener, local, broker) in enumerate((*ENDS, ENDS[0]), 1):
            flow = capture.open(number, client, listener, NOW, {})
            flow.upstream(local, broker)
            flow.arrived("request", b"", NOW, [(0, {"frame": 0}), (0, {"frame": 1})])
            flow.arrived("request", b"", NOW, [(0, {"frame": 2})])
            for at, chunk in enumerate(CHUNKS):
                now = NOW + at
                flow.arrived("request", chunk, now)
                flow.arrived("response", chunk, now, [(1, {"frame": 1}), (len(chunk), {})])
                flow.arrived("response", b"", now, [(0, {"frame": 3})])
            said = {"frame": 5, "rules": ["slow fetches ü"], "left": "later"}
            flow.left("response", b"late", NOW + 9, said)
            capture.note(NOW + 9, {"scenario": "again"})
            flow.close(NOW + 10, reset=number == 2)
    return path


def tshark(path: Path, *arguments: str) -> list[str]:
    command = [shutil.which("tshark") or "tshark", "-r", str(path), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "damaged" not in run.stderr
    assert "cut short" not in run.stderr
    return run.stdout.splitlines()


@pytest.mark.needs_tshark
def test_nothing_seems_wrong_to_tshark(capture: Path) -> None:
    # ports that are used again are a fact, not a fault
    suspicious = (
        "(tcp.analysis.flags and not tcp.analysis.reused_ports) or _ws.malformed"
        " or ip.checksum.status == 0 or tcp.checksum.status == 0"
    )
    assert tshark(capture, "-o", "ip.check_checksum:TRUE", "-Y", suspicious) == []
    assert len(tshark(capture, "-Y", "tcp.analysis.reused_ports")) == 2


@pytest.mark.needs_tshark
@pytest.mark.parametrize("direction", ["request", "response"])
def test_one_direction_alone_fills_no_window(tmp_path: Path, direction: Direction) -> None:
    path = tmp_path / "f.pcapng"
    with CaptureWriter(path, limit=None, meta={}) as capture:
        for number, (client, listener, local, broker) in enumerate(ENDS, 1):
            flow = capture.open(number, client, listener, NOW, {})
            flow.upstream(local, broker)
            flow.arrived(direction, bytes(65_535), NOW)
            for size in (65_000, 500, 35):
                flow.left(direction, bytes(size), NOW, {})
            flow.close(NOW)
    assert tshark(path, "-Y", "tcp.analysis.flags") == []


@pytest.mark.needs_tshark
def test_tshark_sees_the_same_bytes(capture: Path) -> None:
    fields = ["-T", "fields", "-e", "tcp.stream", "-e", "tcp.dstport", "-e", "tcp.payload"]
    found: dict[tuple[str, str], bytes] = {}
    for line in tshark(capture, "-o", "tcp.desegment_tcp_streams:FALSE", *fields):
        stream, port, payload = line.split("\t")
        found[stream, port] = found.get((stream, port), b"") + bytes.fromhex(payload)
    whole = b"".join(CHUNKS)
    for stream in ("0", "2", "4"):
        assert found[stream, "19092"] == whole
        assert found[stream, "50000"] == whole
    for stream in ("1", "3", "5"):
        assert found[stream, "41000"] == b"late"


@pytest.mark.needs_tshark
def test_tshark_sees_times_comments_and_flags(capture: Path) -> None:
    fields = ["-e", "frame.time_epoch", "-e", "tcp.flags.str", "-e", "frame.comment"]
    lines = [line.split("\t") for line in tshark(capture, "-T", "fields", *fields)]
    assert lines[0][0] == "1700000000.123456789"
    assert lines[0][2] == '{"barnabas":"flow","connection":1,"flow":"arrived"}'
    assert [line[1].strip("·") for line in lines[:3]] == ["S", "A··S", "A"]
    late = [line for line in lines if line[2] == COMMENT]
    assert [line[0] for line in late] == ["1700000000.123456798"] * 3
    assert sum("R" in line[1] for line in lines) == 2
