"""What the views show is what the commands compute, fed bit by bit, from a ring that forgets."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.bands import Bands
from barnabas.captures.summary.lag import Lag
from barnabas.captures.summary.lanes import Lanes
from barnabas.captures.summary.rebalances import Rebalances
from barnabas.page.sequence import Sequence
from barnabas.page.views import CHUNK, ROWS, FedViews, Views
from barnabas.proxy.control.history import History
from tests.page.pages import complete

SAMPLE = Path("captures/samples/rebalance.pcap.gz")


def request(query: str = "") -> Request:
    return Request({"type": "http", "query_string": query.encode(), "headers": []})


async def test_a_sequence_stores_nothing_in_the_exchanges_of_the_history() -> None:
    history = History()
    feed(history, 1000)
    await Sequence(history).sequence(request("connection=1"))
    assert all(exchange.facts is None for _, exchange in history.kept())


def feed(history: History, upto: int, before: int = 0) -> None:
    """The sample's exchanges from `before` on come in, up to that number."""
    capture = open_capture(SAMPLE, context=history.context)
    for number, exchange in enumerate(capture.exchanges()):
        if before <= number < upto:
            history.add(exchange)


def asked(views: Views, what: str, query: str = "") -> dict[str, Any]:
    return complete(lambda: asyncio.run(getattr(views, what)(request(query))).body)


def whole() -> Views:
    """The views of all that the sample has."""
    history = History()
    feed(history, 1000)
    return Views(history)


@pytest.mark.parametrize("steps", [(1000,), (10, 40, 41, 1000)])
def test_groups_are_those_of_the_summary_however_often_somebody_looks(
    steps: tuple[int, ...],
) -> None:
    history = History()
    views, before = Views(history), 0
    for upto in steps:
        feed(history, upto, before)
        found, before = asked(views, "groups"), upto
    capture = open_capture(SAMPLE)
    lanes, bands, lag = Lanes(), Bands(capture.context), Lag(capture.context)
    rebalances = Rebalances()
    for exchange in capture.learn(capture.exchanges()):
        for view in lanes, bands, lag:
            view.add(exchange)
        rebalances.note(exchange)
    assert found["lanes"] == lanes.rows()
    assert found["bands"] == bands.rows()
    assert found["lag"] == lag.rows()
    assert found["lag_over_time"]["sum"][-1] == sum(row["lag"] for row in lag.rows())
    assert [band["why"] for band in found["bands"]] == [row["why"] for row in rebalances.rows()]
    assert (found["group"], found["groups"]) == ("readers", ["readers"])
    assert (found["fed"], found["missed"]) == (history.count, 0)


def test_what_fell_out_before_somebody_looked_is_counted() -> None:
    history = History(most=10)
    views = Views(history)
    feed(history, 50)
    found = asked(views, "latency")
    assert (found["fed"], found["missed"]) == (10, 40)
    assert sum(row["count"] for row in found["client"]["tables"]["api"]) == 10


def test_what_a_response_leaves_out_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    before = asked(whole(), "topics")
    monkeypatch.setattr("barnabas.page.views.ROWS", 1)
    after = asked(whole(), "topics")
    assert len(after["flows"]) == 1 < len(before["flows"])
    assert after["forgotten"] - before["forgotten"] == len(before["flows"]) - 1


def test_topics_and_transactions_are_bounded() -> None:
    views = whole()
    flows = asked(views, "topics")["flows"]
    assert {(flow["topic"], flow["direction"], flow["client"]) for flow in flows} >= {
        ("orders", "write", "writer"),
        ("orders", "read", "first"),
    }
    assert len(flows) <= ROWS
    assert asked(views, "transactions")["transactions"] == []


def test_an_answer_does_not_wait_for_what_comes_meanwhile() -> None:
    """Traffic that is faster than a view takes it has no end."""
    history = History()
    fed_ones = 0

    class Echo:
        """A view during which one more exchange comes for each that it takes."""

        def add(self, exchange: Exchange) -> None:
            nonlocal fed_ones
            fed_ones += 1
            assert fed_ones <= 2 * (CHUNK + 10), "it goes on without end"
            history.add(exchange)

    sample = next(open_capture(SAMPLE).exchanges())
    for _ in range(CHUNK + 10):
        history.add(sample)
    fed = FedViews(Echo(), clock=lambda: 0.0)
    assert asyncio.run(fed.fresh(history)) == {"fed": CHUNK + 10, "missed": 0, "waiting": 0}
    assert asyncio.run(fed.fresh(history)) == {"fed": 2 * (CHUNK + 10), "missed": 0, "waiting": 0}
