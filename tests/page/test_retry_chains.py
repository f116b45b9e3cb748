"""Test the chains of retries, and the request for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from barnabas.captures.kafka.exchange import Exchange
from barnabas.page.retry_chains import RetryChains
from barnabas.page.views import CHUNK
from barnabas.proxy.control.history import History
from tests.captures.checks.given import produce
from tests.page.pages import called, shown

WRONG = Path("captures/samples/wrong.pcap")
"""Exchanges 6 to 18 are attempts of one Produce."""


def add(history: History, *exchanges: Exchange) -> None:
    for exchange in exchanges:
        history.add(exchange)


async def retries_after(chains: RetryChains, after: int) -> Any:
    request = Request({"type": "http", "query_string": f"after={after}".encode()})
    return json.loads(bytes((await chains.retries(request)).body))


async def test_attempts_of_two_clients_are_two_chains() -> None:
    history = History()
    chains = RetryChains(history)
    for at in 0, 10, 20:
        for client in "first", "second":
            add(history, produce(at, ["a"], error=6, client=client))
    add(history, produce(30, ["a"], client="second"), produce(40, ["a"], client="second"))
    assert await retries_after(chains, -1) == {
        "retries": [[2, 0], [3, 1], [4, 0], [5, 1], [6, 1]],
        "after": 7,
    }


async def test_a_chain_grows_and_each_page_continues_where_it_is() -> None:
    history = History()
    chains = RetryChains(history)
    add(history, produce(0, ["a"], error=6), produce(10, ["a"], error=6))
    assert await retries_after(chains, -1) == {"retries": [[1, 0]], "after": 1}
    add(history, produce(20, ["a"]))
    assert await retries_after(chains, 1) == {"retries": [[2, 0]], "after": 2}
    assert await retries_after(chains, -1) == {"retries": [[1, 0], [2, 0]], "after": 2}


async def test_numbers_are_those_of_the_history_after_exchanges_that_it_dropped() -> None:
    history = History(most=3)
    chains = RetryChains(history)
    for at in range(10):
        add(history, produce(10 * at, ["a"], error=6))
    assert await retries_after(chains, -1) == {"retries": [[8, 7], [9, 7]], "after": 9}


async def test_retries_that_the_history_dropped_are_dropped() -> None:
    history = History(most=CHUNK)
    chains = RetryChains(history)
    for at in range(2 * CHUNK):
        add(history, produce(10 * at, ["a"], error=6))
        if at % 50 == 49:
            await retries_after(chains, at)
    found = await retries_after(chains, -1)
    assert [number for number, _ in found["retries"]] == [*range(CHUNK, 2 * CHUNK)]
    assert len(chains._retries) == CHUNK


@pytest.mark.parametrize(
    ("query", "retried"),
    [("", range(7, 19)), ("?after=-1", range(7, 19)), ("?after=15", range(16, 19))],
)
def test_retries_of_a_capture_are_requested(query: str, retried: range) -> None:
    with called(lambda: shown(WRONG)) as call:
        assert call(f"/v1/exchanges/retries{query}").json == {
            "retries": [[number, 6] for number in retried],
            "after": 38,
        }


def test_a_place_that_is_no_number_is_refused() -> None:
    with called(lambda: shown(WRONG)) as call:
        refused = call("/v1/exchanges/retries?after=x")
        assert (refused.status, refused.error) == (400, "after: give numbers")
