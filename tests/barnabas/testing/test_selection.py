"""Which exchanges a test asks for."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.testing.selection import ExchangeQuery, described, selection
from tests.barnabas.testing.made import row

ROWS = [
    row("Produce", 1, request={"topic_data": [{"name": "orders"}]}),
    row("Produce", 2, error="REQUEST_TIMED_OUT", client_id="taker", latency_ms=150.0),
    row("Fetch", 3, broker=2, client_id=None, error=None, response=None),
]


@pytest.mark.parametrize(
    ("wanted", "checked", "found"),
    [
        ({}, {}, [1, 2, 3]),
        ({"api": "produce"}, {"api": "Produce"}, [1, 2]),
        ({"error": "request_timed_out"}, {"error": "REQUEST_TIMED_OUT"}, [2]),
        ({"error": ""}, {"error": ""}, [1]),
        ({"broker": 2}, {}, [3]),
        ({"client_id": "ma*"}, {}, [1]),
        ({"client_id": "*"}, {}, [1, 2, 3]),
        ({"topic": "ord*"}, {}, [1]),
        ({"topic": "payments"}, {}, []),
        ({"where": "latency_ms > 100"}, {"filter": "latency_ms > `100`"}, [2]),
        ({"where": "length(response) == 0"}, {"filter": "length(response) == `0`"}, [1, 2]),
        ({"client_id": "taker", "broker": 1}, {}, [2]),
        ({"client_id": "taker", "broker": 2}, {}, []),
    ],
)
def test_all_that_is_given_must_hold(
    wanted: ExchangeQuery, checked: dict[str, Any], found: list[int]
) -> None:
    selected = [selection(wanted, checked)(row) for row in ROWS]
    assert [each.correlation_id for each in selected if each is not None] == found


def test_what_is_wanted_is_described_as_it_was_written() -> None:
    assert described({"api": "Fetch", "where": "broker == 1"}) == "api='Fetch', where='broker == 1'"
    assert described({}) == "any API"
