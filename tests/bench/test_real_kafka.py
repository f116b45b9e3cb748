"""The bench with a real broker: a round of it, small, and what it makes of the figures."""

from __future__ import annotations

import math

import pytest

from bench.real_kafka import OTHERS, OURS, measure, table


@pytest.mark.needs_apache("3.9.1")
def test_a_small_round_has_a_figure_everywhere() -> None:
    ways, remark = measure(1, 20_000, 0.1, lambda _: None)
    names = [way.name for way in ways]
    assert names[0] == "direct"
    assert names[-len(OURS) :] == list(OURS)
    for kind in OTHERS:
        assert (kind.name in names) != (f"{kind.command[0]}: not on the path" in remark)
    for way in ways:
        figures = way.figures()
        assert figures["records_per_second"] > 0
        assert figures["p99_us"] >= figures["p50_us"] > 0
        assert math.isnan(figures["cpu_seconds_per_million"]) == (way.name == "direct")
        assert way.name not in OURS or way.cpu[0] > 0  # records went through it, not round it
    assert table(ways, remark).row_count == len(ways)
