"""Figures by time keep their sums while columns get wider, and forget what is before the window."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.timeline import COLUMNS, CONNECTIONS, Timeline
from barnabas.page.overview import WINDOW_MS
from barnabas.specs.keys import API_VERSIONS, JOIN_GROUP

SECOND = 1_000_000_000


def exchange(ts: int, error: str = "", connection: int = 1, api: int = 0) -> Exchange:
    made = Exchange(ts, connection, "", "app", None, api, 0, 0, 100, 50, latency_ms=2.0)
    made.set_error(error)
    return made


@given(
    st.lists(
        st.tuples(st.integers(0, 10**6), st.sampled_from(["", "NOT_LEADER_OR_FOLLOWER"])),
        min_size=1,
    )
)
def test_columns_have_all_that_was_added_in_whatever_order(times: list[tuple[int, str]]) -> None:
    timeline = Timeline()
    for ms, error in times:
        timeline.add(exchange(ms * 1_000_000, error))
    made = timeline.document(timeline.last)
    assert len(made["columns"]) <= COLUMNS
    for name in ("exchanges", "errors", "bytes"):
        assert sum(column[name] for column in made["columns"]) == made["total"][name], name
    assert made["total"]["exchanges"] == len(times)
    assert made["total"]["errors"] == sum(bool(error) for _, error in times)
    last = int(made["from"]) + len(made["columns"]) * made["width_ms"] * 1_000_000
    assert int(made["from"]) <= min(times)[0] * 1_000_000
    assert max(times)[0] * 1_000_000 < last


@pytest.mark.parametrize("window_ms", [WINDOW_MS, None])
def test_the_rate_of_steady_traffic_is_right_at_any_moment(window_ms: int | None) -> None:
    timeline, per_second = Timeline(window_ms), 20
    for number in range(400 * per_second):
        at = number * SECOND // per_second
        timeline.add(exchange(at, connection=number))
        if at >= 2 * SECOND:
            made = timeline.document(at)
            rate = made["recent"]["exchanges"] / (made["recent_ms"] / 1000)
            assert rate == pytest.approx(per_second, rel=0.2), at / SECOND
            assert made["recent"]["connections"] == made["recent"]["exchanges"]


def test_nothing_is_recent_after_silence() -> None:
    timeline = Timeline(WINDOW_MS)
    assert timeline.document(SECOND)["recent"]["exchanges"] == 0
    for second in range(400):
        timeline.add(exchange(second * SECOND))
    assert timeline.document(405 * SECOND)["recent"]["exchanges"] > 0
    assert timeline.document(420 * SECOND)["recent"]["exchanges"] == 0


def test_connections_stay_bounded_where_columns_are_merged() -> None:
    timeline = Timeline()
    for second in (0, 1000):
        for connection in range(CONNECTIONS):
            timeline.add(exchange(second * SECOND, connection=second * SECOND + connection))
    for second in range(1000, 100_000, 1000):
        timeline.add(exchange(second * SECOND))
    columns = timeline.document(timeline.last)["columns"]
    assert max(column["connections"] for column in columns) == CONNECTIONS


@pytest.mark.parametrize(
    ("api", "normal_error"),
    [(JOIN_GROUP, "MEMBER_ID_REQUIRED"), (API_VERSIONS, "UNSUPPORTED_VERSION")],
)
def test_errors_that_are_normal_are_none(api: int, normal_error: str) -> None:
    timeline = Timeline()
    timeline.add(exchange(SECOND, normal_error, api=api))
    timeline.add(exchange(SECOND, "NOT_COORDINATOR", api=api))
    assert timeline.document(timeline.last)["total"]["errors"] == 1


def test_a_window_forgets_columns_but_not_the_total() -> None:
    timeline = Timeline(window_ms=60_000)
    for second in range(600):
        timeline.add(exchange(second * SECOND, connection=second // 60))
    made = timeline.document(timeline.last)
    span = len(made["columns"]) * made["width_ms"]
    assert 50_000 <= span <= 60_000
    assert sum(column["exchanges"] for column in made["columns"]) in range(50, 62)
    assert made["total"]["exchanges"] == 600
    assert made["total"]["connections"] == 10


def test_an_exchange_from_before_the_window_counts_in_the_total_alone() -> None:
    timeline = Timeline(window_ms=10_000)
    timeline.add(exchange(100 * SECOND))
    timeline.add(exchange(1 * SECOND))
    made = timeline.document(timeline.last)
    assert [column["exchanges"] for column in made["columns"]] == [1]
    assert made["total"]["exchanges"] == 2
