"""The bench of the pipeline: what a way to tables costs, and what is made of the figures."""

from __future__ import annotations

import pytest

from bench import pipelining
from bench.pipelining import KINDS, Row, Way
from bench.recordings import KINDS as RECORDINGS
from bench.tabling import Spans

pytestmark = pytest.mark.slow("all captures in all ways")

MIB = 1 << 20
PURE = [way for way in pipelining.WAYS if way.command[-1].startswith("pure")]


def test_every_way_reads_every_capture(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Way("absent", ("no-such-program",))
    monkeypatch.setattr(pipelining, "WAYS", (absent, PURE[0]))
    rows, remark = pipelining.measure(1, (1, 2), KINDS, lambda _: None)
    assert remark == "no-such-program: not on the path"
    assert [(row.kind, row.mib) for row in rows] == [
        (kind, mib) for kind in RECORDINGS for mib in (1, 2)
    ]
    assert all(len(row.spans) == 1 and row.size > row.mib * MIB for row in rows)


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
