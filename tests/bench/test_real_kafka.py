"""The bench with a real broker: a round of it, small, and what it makes of the figures."""

from __future__ import annotations

import math

import pytest

from bench.real_kafka import OTHERS, OURS, Way, measure, table


@pytest.mark.needs_apache("3.9.1")
def test_a_small_round_has_a_figure_everywhere() -> None:
    ways, remark = measure(1, 20_000, 0.1, lambda _: None)
    names = [way.name for way in ways]
    assert names[0] == "direct"
    assert names[-len(OURS) :] == list(OURS)
    for name, (program, _) in OTHERS.items():
        assert (name in names) != (f"{program}: not on the path" in remark)
    for way in ways:
        figures = way.figures()
        assert figures["records_per_second"] > 0
        assert figures["p99_us"] >= figures["p50_us"] > 0
        assert math.isnan(figures["cpu_seconds_per_million"]) == (way.name == "direct")
        assert way.name not in OURS or way.cpu[0] > 0  # records went through it, not round it
    assert table(ways, remark).row_count == len(ways)


def test_medians_of_the_rounds_are_what_is_shown() -> None:
    way = Way("direct", "127.0.0.1:1", rates=[1.0, 9.0, 3.0], p50=[5.0, 7.0], p99=[8.0])
    figures = way.figures()
    assert math.isnan(figures.pop("cpu_seconds_per_million"))
    assert figures == {"records_per_second": 3.0, "p50_us": 6.0, "p99_us": 8.0}
