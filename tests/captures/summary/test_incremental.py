"""Test that all views read after each exchange end like views read once, in JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.captures.kafka.context import Context
from barnabas.captures.summary.bands import Bands
from barnabas.captures.summary.lag import Lag
from barnabas.captures.summary.lag_series import LagSeries
from barnabas.captures.summary.lanes import Lanes
from barnabas.captures.summary.latency_view import LatencyView
from barnabas.captures.summary.traffic import Traffic
from barnabas.captures.summary.transactions import Transactions
from barnabas.cli.console.json_text import json_text
from tests.captures.summary.views import sample, shown

VIEWS: dict[str, Callable[[Context], Any]] = {
    "lanes": lambda _: Lanes(),
    "bands": Bands,
    "lag": Lag,
    "lag over time": LagSeries,
    "transactions": Transactions,
    "traffic": Traffic,
    "latency": LatencyView,
}


def document(view: Any) -> Any:
    """Return all that the page can show of a view."""
    if isinstance(view, LagSeries):
        return [view.document(group) for group in sorted({row["group"] for row in view.lag.rows()})]
    return view.rows()


@pytest.mark.parametrize("view", VIEWS)
@settings(max_examples=10)
@given(
    name=st.sampled_from(("flapping.pcapng", "kip-848.pcapng", "transactions.pcapng")),
    looks=st.sets(st.integers(0, 130)),
)
def test_looks_change_nothing(view: str, name: str, looks: set[int]) -> None:
    context = Context()
    looked = VIEWS[view](context)
    for number, exchange in enumerate(sample(name)):
        shown(looked, context, exchange)
        if number in looks:
            document(looked)
    context = Context()
    once = shown(VIEWS[view](context), context, *sample(name))
    assert json_text(document(looked)) == json_text(document(once))
