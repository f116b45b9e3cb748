"""The bench of reading: what a command costs, and what is made of the figures."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from bench import machine, reading
from bench.machine import Cost
from bench.reading import PROXY, TCPDUMP, TSHARK, Row, Way
from bench.recordings import Recording

MIB = 1 << 20


def python(text: str) -> Cost:
    return machine.cost([sys.executable, "-c", text], 60)


def test_a_command_costs_its_own_memory_and_time() -> None:
    own = bytearray(80 * MIB)  # what this process has had is none of theirs
    small, large = python("print(1)\nprint(2)"), python("import sys\na = b'x' * (60 << 20)")
    assert small.output == "1\n2"
    assert small.peak_mib < 50
    assert 60 < large.peak_mib < 110
    assert small.seconds > 0
    assert small.cpu > 0
    assert len(own)


def test_a_command_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match="failed: no such thing"):
        python("raise SystemExit('no such thing')")
    with pytest.raises(RuntimeError, match="failed: exit code 3"):
        python("raise SystemExit(3)")
    with pytest.raises(RuntimeError, match="timed out"):
        machine.cost([sys.executable, "-c", "import time; time.sleep(60)"], 0.1)


def test_keys_of_several_frames_in_a_packet_are_counted() -> None:
    way = Way(TSHARK, ("tshark",), "keys")
    assert way.count("0,0,0\n\n3\n") == 4
    assert way.count("") == 0


def test_who_is_not_here_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert reading.WAYS[0].missing == "tshark: not on the path"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    missing = [way.missing for way in reading.WAYS]
    assert missing[1:3] == ["dpkt: not installed", "scapy: not installed"]
    assert missing[3:] == [None] * 5


def test_a_capture_that_is_not_read_whole_is_an_error_of_ours_and_a_remark_of_others() -> None:
    recording = Recording(Path("print(7)"), exchanges=4, payload=8)
    ours = Way("ours", (sys.executable, "-c"), "payload")
    with pytest.raises(RuntimeError, match="ours found 7 of 8"):
        reading.read_once(ours, recording)
    theirs = Way(TSHARK, (sys.executable, "-c"), "keys")
    assert reading.read_once(theirs, recording)[1] == f"{TSHARK} found 1 of 8"


def test_every_way_reads_captures_of_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Way("absent", ("no-such-program",), "keys", {PROXY: 1, TCPDUMP: 1})
    (packets,) = [way for way in reading.WAYS if way.command[-1] == "packets"]
    monkeypatch.setattr(reading, "WAYS", (absent, packets))
    rows, remark = reading.measure(1, MIB, lambda _: None)
    assert remark == "no-such-program: not on the path"
    assert [(row.kind, row.way) for row in rows] == [(PROXY, packets), (TCPDUMP, packets)]
    assert all(row.size > MIB and row.quarter > 5 for row in rows)
    assert all(len(row.costs) == len(row.starts) == 1 for row in rows)


def rows(*figures: tuple[str, float]) -> list[Row]:
    start = Cost(0.5, 0.4, 10, "")
    return [
        Row(
            kind,
            Way(name, (), "payload"),
            100 * MIB,
            [
                Cost(start.seconds + more, start.cpu + seconds / 2, 90, "")
                for more in (seconds, 9, 0)
            ],
            [start],
            quarter=30,
        )
        for kind in (PROXY, TCPDUMP)
        for name, seconds in figures
    ]


def test_figures_are_medians_without_the_start() -> None:
    (row, _) = rows(("a", 2.0))
    assert row.figures() == {
        "file_bytes": 100 * MIB,
        "bytes_per_second": 50 * MIB,
        "cpu_seconds_per_gb": pytest.approx(1e9 / (100 * MIB)),
        "start_seconds": 0.5,
        "peak_mib": 90,
        "peak_mib_of_a_quarter": 30,
    }


def test_speeds_stand_beside_that_of_tshark() -> None:
    found = rows((TSHARK, 4.0), ("ours", 2.0))
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(*reading.tables(found, "dpkt: not installed"))
    text = console.export_text()
    for figure in ("52 (2.00)", "9.5 (0.50)", "90", "30", "dpkt: not installed"):
        assert figure in text
    console.print(*reading.tables(rows(("ours", 2.0)), ""))
    assert " 52 " in console.export_text()
