"""Latencies over time."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.context import Context
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.captures.summary.heat_map import COLUMNS, ROWS, HeatMap, LatencyView, bound_ms, bucket
from tests.captures.summary.views import sample, shown

TIMES = st.lists(st.tuples(st.integers(0, 10**15), st.floats(0, 1e9)), max_size=50)


@given(TIMES)
def test_it_is_bounded_and_counts_all(found: list[tuple[int, float]]) -> None:
    heat = HeatMap()
    for ts, ms in found:
        heat.note(ts, ms)
    document = heat.document()
    width = document["width_ms"] * 1_000_000
    columns = {int(start) // width for start, _, _ in document["cells"]}
    assert sum(count for *_, count in document["cells"]) == len(found)
    assert not columns or max(columns) - min(columns) < COLUMNS


@given(TIMES)
def test_the_order_does_not_matter(found: list[tuple[int, float]]) -> None:
    maps = HeatMap(), HeatMap()
    for heat, order in zip(maps, (found, reversed(found)), strict=True):
        for ts, ms in order:
            heat.note(ts, ms)
    assert maps[0].document() == maps[1].document()


@given(st.floats(0, 6e7))
def test_a_latency_is_within_its_bucket(ms: float) -> None:
    number = bucket(ms)
    assert 0 <= number <= ROWS
    assert ms <= bound_ms(number) * (1 + 1e-12)
    assert number == 0 or bound_ms(number - 1) < ms * (1 + 1e-12)


def test_percentiles_are_those_of_the_closing_table() -> None:
    exchanges, stats = sample("flapping.pcapng"), ApiStats()
    for one in exchanges:
        stats.note(one.key, None if one.latency_ms is None else round(one.latency_ms * 1e6))
    found = shown(LatencyView(), Context(), *exchanges).rows()["client"]
    assert [(row["api"], row["count"], row["p99_ms"]) for row in found["apis"]] == [
        (row.api, row.count, row.p99_ms) for row in stats.rows()
    ]
    counts = Counter(one.latency_ms is not None for one in exchanges)
    assert sum(count for *_, count in found["heat"]["cells"]) == counts[True]
