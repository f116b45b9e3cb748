"""When a p99 stands out."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.pipeline.report.rises import rise
from tests.pipeline.report.made import at


def series(*p99: float | None, count: int = 10) -> list[dict[str, Any]]:
    """A bucket a second."""
    return [{"bucket": at(n), "p99_ms": one, "count": count} for n, one in enumerate(p99)]


def test_a_rise_has_its_beginning_its_worst_and_its_end() -> None:
    found = rise("Produce", series(2, 2, 60, 90, 70, 2, 2, 65, 2))
    assert found is not None
    assert (found.since, found.worst["bucket"], found.until) == (at(2), at(3), at(4))
    assert found.text == (
        "p99 rose to 90 ms from 14:05:02.000 to 14:05:04.000, 45 times its usual 2 ms"
    )


def test_a_rise_of_one_bucket_is_at_its_time() -> None:
    found = rise("Produce", series(0, 0, 0, 0, 55))
    assert found is not None
    assert found.text == "p99 rose to 55 ms at 14:05:04.000"


@pytest.mark.parametrize(
    ("api", "found"),
    [
        ("Produce", series(0.64, 0.64, 0.64, 0.64, 39)),  # 61 times, of nearly nothing
        ("Produce", series(30, 30, 30, 30, 200)),  # much, not eight times
        ("Produce", series(2, 2, 2, 90)),  # of so few buckets none is the usual one
        ("Produce", series(2, 2, 2, 2, 90, count=4)),  # of so few exchanges
        ("Produce", series(2, 2, 2, 2, None)),
        ("Fetch", series(2, 2, 2, 2, 500)),  # it waits for records
        ("JoinGroup", series(2, 2, 2, 2, 9000)),  # it waits for members
    ],
)
def test_what_is_little_rare_or_waits_does_not_stand_out(
    api: str, found: list[dict[str, Any]]
) -> None:
    assert rise(api, found) is None


def test_a_fetch_that_takes_longer_than_it_waits_stands_out() -> None:
    assert rise("Fetch", series(2, 2, 2, 2, 1500)) is not None
