"""The lag over time: what was known when, the same at its end as the present lag, in bounded samples."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.lag_series import COLUMNS, LagSeries
from tests.captures.checks.groups import commit
from tests.captures.summary.test_lag import latest
from tests.captures.summary.views import shown


def series(*exchanges: Exchange) -> LagSeries:
    context = Context()
    return shown(LagSeries(context), context, *exchanges)


def points(document: dict[str, Any]) -> list[tuple[int, int]]:
    """Return time in ms and lag."""
    return [
        (int(ts) // 1_000_000, lag)
        for ts, lag in zip(document["times"], document["sum"], strict=True)
    ]


def test_a_sample_has_what_was_known_at_its_time() -> None:
    made = series(latest(0, 10), commit(100), latest(200, 12), latest(300, 30)).document("g")
    assert points(made) == [(101, 3), (201, 5), (301, 23)]
    (partition,) = made["partitions"]
    assert (partition["topic"], partition["partition"]) == ("orders", 0)
    assert partition["lag"] == made["sum"]


def test_a_group_without_a_known_end_has_no_samples() -> None:
    made = series(commit(100), commit(200))
    assert (
        made.document("g") == made.document("other") == {"times": [], "sum": [], "partitions": []}
    )


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=300))
def test_samples_are_bounded_and_the_last_one_is_the_present(steps: list[int]) -> None:
    at, exchanges = 100, [commit(50)]
    for step in steps:
        at += step
        exchanges.append(latest(at, at))
    made = series(*exchanges)
    found = points(made.document("g"))
    assert len(found) <= COLUMNS + 1
    assert found == sorted(found)
    assert all(lag == ms - 8 for ms, lag in found), "a response takes 1 ms; 7 is committed"
    assert found[-1][1] == made.lag.rows()[0]["lag"]
    if len(steps) < 10:
        assert len(found) >= min(len(steps), sum(step > 20_000 for step in steps))
