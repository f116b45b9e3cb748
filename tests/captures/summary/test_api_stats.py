"""Counts by API, and percentiles against the exact ones."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.summary.api_stats import KINDS, ApiStats, Row

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


def test_memory_does_not_grow_with_the_traffic() -> None:
    tally = ApiStats()
    for latency in range(0, 10**8, 997):
        tally.note(0, latency)
    assert len(tally._series[0].latencies.buckets) < 27 * 35


def test_the_most_frequent_api_stands_first() -> None:
    tally = ApiStats()
    tally.note(3, 1_000_000)
    for _ in range(3):
        tally.note(1, 2_000_000)
    tally.note(-1, 0)
    tally.note(999, 5)
    assert [row.api for row in tally.rows()] == ["Fetch", "SASL token", "Metadata", "key 999"]
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
    assert tally.errors() == [
        ("Fetch", "NOT_LEADER_OR_FOLLOWER", 2),
        ("Fetch", "OFFSET_OUT_OF_RANGE", 1),
    ]


def test_requests_without_a_response_count_and_have_no_latency() -> None:
    tally = ApiStats()
    tally.note(0, None)
    assert tally.rows() == [Row("Produce", 1, None, None, None, None)]


def test_several_that_waited_equally_long_are_counted_at_once() -> None:
    one, many = ApiStats(), ApiStats()
    for _ in range(5):
        one.note(1, 1000)
    many.note(1, 1000, 5)
    assert one.rows() == many.rows()


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
