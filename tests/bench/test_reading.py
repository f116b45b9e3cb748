"""The bench of reading: what a command costs, and what is made of the figures."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench import machine, reading
from bench.machine import Cost
from bench.reading import PROXY, TCPDUMP, TSHARK, Way
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
    assert [(row.kind, row.contestant) for row in rows] == [(PROXY, packets), (TCPDUMP, packets)]
    assert all(row.size > MIB and row.quarter > 5 for row in rows)
    assert all(len(row.costs) == len(row.starts) == 1 for row in rows)
