"""Test counts by API, and percentiles against the exact ones."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.summary.api_stats import KINDS, ApiStats, Row
from barnabas.captures.summary.heat_map import COLUMNS, ROWS, HeatMap, bound_ms, bucket

RESOLUTION = 2 ** (1 / 70) * (1 + 1e-9)  # half a bucket, and the rounding of a float


@given(st.lists(st.integers(1, 10**13), min_size=1, max_size=300))
def test_percentiles_are_within_the_resolution(latencies: list[int]) -> None:
    tally = ApiStats()
    for latency in latencies:
        tally.note(1, latency)
    (row,) = tally.rows()
    ordered = sorted(latencies)
    assert row.max_ms == ordered[-1] / 1e6
    for share, found in ((0.5, row.p50_ms), (0.99, row.p99_ms)):
        exact = ordered[math.ceil(share * len(ordered)) - 1] / 1e6
        assert found is not None
        assert exact / RESOLUTION <= found <= exact * RESOLUTION


def test_the_most_frequent_api_stands_first() -> None:
    tally = ApiStats()
    tally.note(3, 1_000_000)
    for _ in range(3):
        tally.note(1, 2_000_000)
    tally.note(-1, 0)
    tally.note(999, 5)
    names = ["Fetch", "SASL token", "Metadata", "key 999"]
    assert [row.api for row in tally.rows()] == names
    assert [row.count for row in tally.rows()] == [3, 1, 1, 1]


def test_errors_are_unknown_until_a_response_is_looked_at() -> None:
    tally = ApiStats()
    tally.note(1, 10)
    assert tally.rows()[0].errors is None
    tally.error(1, "")
    assert tally.rows()[0].errors == 0
    for name in ("NOT_LEADER_OR_FOLLOWER", "NOT_LEADER_OR_FOLLOWER", "OFFSET_OUT_OF_RANGE"):
        tally.error(1, name)
    assert tally.rows()[0].errors == 3
    counts = {"NOT_LEADER_OR_FOLLOWER": 2, "OFFSET_OUT_OF_RANGE": 1}
    assert tally.errors() == [("Fetch", name, count) for name, count in counts.items()]


def test_requests_without_a_response_count_and_have_no_latency() -> None:
    tally = ApiStats()
    tally.note(0, None)
    assert tally.rows() == [Row("Produce", 1, None, None, None, None)]


def test_keys_and_errors_beyond_a_number_are_counted_together() -> None:
    tally = ApiStats()
    for number in range(30_000):
        tally.note(1000 + number, None)
        tally.error(3, f"error {number}")
    tally.note(1, None)
    rows = {row.api: row for row in tally.rows()}
    assert len(rows) <= KINDS + 3
    assert rows["others"].count == 30_000 - KINDS + 1
    assert (rows["Fetch"].count, rows["Metadata"].errors) == (1, 30_000)
    assert len(tally.errors()) == KINDS + 1


NOTED = st.tuples(st.integers(-2, 5), st.none() | st.integers(0, 10**13), st.integers(1, 3))
SAID = st.tuples(st.integers(-2, 5), st.sampled_from(["", "A", "B", "others"]), st.integers(1, 3))

Event = tuple[int, int | str | None, int]
"""API key, a latency or what a response said, how often."""


@given(st.lists(st.tuples(st.integers(0, 2), NOTED | SAID)))
def test_parts_of_a_traffic_together_are_the_whole(events: list[tuple[int, Event]]) -> None:
    whole, found, parts = ApiStats(), ApiStats(), [ApiStats(), ApiStats(), ApiStats()]
    for place, (key, what, times) in events:
        for stats in (whole, parts[place]):
            if isinstance(what, str):
                stats.error(key, what, times)
            else:
                stats.note(key, what, times)
    before = [part.rows() for part in parts]
    for part in parts:
        found.add(part)
    for said in (ApiStats.rows, ApiStats.errors, lambda stats: stats.total):
        assert said(found) == said(whole)
    assert sorted(found.latencies()) == sorted(whole.latencies())
    found.note(1, 5)
    found.error(1, "A")
    assert [part.rows() for part in parts] == before, "they are left as they were"


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


@given(st.floats(0, 6e7))
def test_a_latency_is_within_its_bucket(ms: float) -> None:
    number = bucket(ms)
    assert 0 <= number <= ROWS
    assert ms <= bound_ms(number) * (1 + 1e-12)
    assert number == 0 or bound_ms(number - 1) < ms * (1 + 1e-12)
