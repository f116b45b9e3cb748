"""The bench of the pipeline: what a way to tables costs, and what is made of the figures."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from bench import pipelining, tabling
from bench.pipelining import FIELDS, KINDS, TSHARK, Row, Way
from bench.recordings import KINDS as RECORDINGS
from bench.recordings import Recording, as_proxy
from bench.tabling import Peaks, Spans

pytestmark = pytest.mark.slow("all captures in all ways")

MIB = 1 << 20
PURE = [way for way in pipelining.WAYS if way.command[-1].startswith("pure")]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return as_proxy(tmp_path_factory.mktemp("recording") / "a.pcapng", 1)


def way(name: str, text: str) -> Way:
    return Way(name, (sys.executable, "-c", text))


def printing(spans: Spans) -> str:
    return f"import json; print(json.dumps({spans._asdict()}))"


@pytest.mark.parametrize("way", PURE, ids=lambda way: way.command[-1])
def test_the_pure_core_writes_every_exchange(way: Way, recording: Recording) -> None:
    spans, remark = way.run(recording, recording)
    assert not remark
    assert spans.rows == recording.exchanges
    assert spans.start_seconds > 0
    assert 20 < spans.driver_mib < 2000
    assert (spans.jvm_mib, spans.worker_mib) == (0, 0)


def test_bodies_are_written_where_they_are_asked_for(tmp_path: Path, recording: Recording) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    for bodies in (False, True):
        tabling.pure(recording.path, tmp_path, bodies=bodies)
        found = pq.read_table(tmp_path / "exchanges.parquet")
        assert ("body" in found.column_names) is bodies
        assert found["records"].to_pylist()[0] == 16
        if bodies:
            assert b"topic_data" in found["body"].to_pylist()[0]["metadata"]


def test_a_way_that_lost_something_is_an_error() -> None:
    few = Spans(6, 1, 1, 1, 1, 1, 1, 1)
    with pytest.raises(RuntimeError, match="ours has 6 rows of 7"):
        way("ours", printing(few)).run(Recording(Path("x"), 7, 0), Recording(Path("x"), 0, 0))


def test_of_tshark_it_is_a_remark_and_its_start_is_taken_off() -> None:
    line = ",".join('"0,3"' if name == "kafka.api_key" else '""' for name in FIELDS)
    text = f"import sys, time; sys.argv[1] == 'empty' or time.sleep(0.05); print({line!r})"
    theirs = way(TSHARK, text)
    spans, remark = theirs.run(Recording(Path("x"), 1, 0), Recording(Path("empty"), 0, 0))
    assert (spans.rows, remark) == (1, "")
    assert spans.start_seconds > 0
    _, remark = theirs.run(Recording(Path("x"), 2, 0), Recording(Path("empty"), 0, 0))
    assert remark == "tshark found 2 frames of 4"


@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="needs /proc")
def test_the_memory_of_processes_below_is_seen_while_they_run() -> None:
    eater = "a = b'x' * (60 << 20); print(1, flush=True); input()"
    text = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {eater!r}])"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", text], stdin=pipe, stdout=pipe) as child:
        peaks = Peaks(child.pid)
        with peaks.watched():
            assert child.stdout is not None
            child.stdout.readline()
            peaks.look()
            child.communicate(b"\n")
    assert 60 < peaks.worker < 200
    assert peaks.jvm == 0


def test_every_way_reads_every_capture(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Way("absent", ("no-such-program",))
    monkeypatch.setattr(pipelining, "WAYS", (absent, PURE[0]))
    rows, remark = pipelining.measure(1, (1, 2), KINDS, lambda _: None)
    assert remark == "no-such-program: not on the path"
    assert [(row.kind, row.mib) for row in rows] == [
        (kind, mib) for kind in RECORDINGS for mib in (1, 2)
    ]
    assert all(len(row.spans) == 1 and row.size > row.mib * MIB for row in rows)


def row(name: str, seconds: float, jvm: float = 0) -> Row:
    some = [Spans(7, 3, 4, seconds + more, seconds * 2, 50, jvm, jvm / 2) for more in (0, 9, -1)]
    return Row("segments", 64, Way(name, ("x", name.strip())), 100 * MIB, some)


def test_speeds_stand_beside_that_of_tshark_and_starting_apart() -> None:
    found = [row(TSHARK, 8), row("ours", 2, 700)]
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(*pipelining.tables(found, "a remark"))
    text = console.export_text()
    for figure in ("52.4 (4.00)", "38.1 (0.25)", "3.0", "4.0", "700", "350", "a remark"):
        assert figure in text


def test_goals_are_ratios_of_decode_and_analyze() -> None:
    def way(seconds: float, *words: str, jvm: float = 0, findings: float = 0) -> Row:
        spans = Spans(7, 0, 0, seconds, seconds, 50, jvm, 50, findings)
        return Row("segments", 2048, Way("a way", words[:1], words[1:]), 100 * MIB, [spans])

    decode, one = way(10, "pure-decode"), way(29, "spark-analyze", "local[1]")
    two = way(20, "spark-analyze", "local[2]", jvm=1100, findings=4)
    assert pipelining.goals([decode, one]) is None
    shown = pipelining.goals([decode, one, two])
    assert shown is not None
    figures, met = ([*shown.columns[at].cells] for at in (1, 3))
    assert figures == ["2.90", "1.45", "0.20", "1,100.00"]
    assert met == ["met", "missed", "met", "missed"]
