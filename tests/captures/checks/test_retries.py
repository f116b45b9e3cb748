from __future__ import annotations

import dataclasses

import pytest

from barnabas.captures.checks.finding import MS
from barnabas.captures.checks.retries import CLIENTS, PATIENCE, REQUESTS, Retries
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import produce
from tests.captures.summary.views import sample


def counts(*exchanges: Exchange) -> list[int]:
    context, retries = Context(), Retries()
    result = []
    for each in exchanges:
        context.learn(each)
        result.append(retries.count(each, context))
    return result


def test_a_request_that_failed_is_retried_until_it_succeeds() -> None:
    sent = (
        produce(0, ["a"], error=6),
        produce(10, ["a"], error=6),
        produce(20, ["a"]),
        produce(30, ["a"]),
    )
    assert counts(*sent) == [0, 1, 2, 0]


def test_a_retry_refers_to_the_first_attempt() -> None:
    context, retries = Context(), Retries()
    sent = produce(0, ["a"], error=6), produce(10, ["a"], error=6), produce(20, ["a"])
    assert [retries.retry(each, context, number) for number, each in enumerate(sent, 7)] == [
        (0, 7),
        (1, 7),
        (2, 7),
    ]
    assert retries.retry(produce(30, ["a"]), context, 10) == (0, 10)


def test_a_retry_may_come_on_another_connection() -> None:
    lost = dataclasses.replace(produce(0, ["a"], error=None), note="no response: connection closed")
    assert counts(lost, produce(10, ["a"], connection=2, host="10.0.0.1")) == [0, 1]
    assert counts(lost, produce(10, ["a"], connection=2, host="10.0.0.9")) == [0, 0]


@pytest.mark.parametrize(
    "later",
    [
        produce(10, ["b"]),
        produce(0.5, ["a"]),  # sent before the error came
        produce(10 + PATIENCE / MS, ["a"]),
    ],
    ids=["other records", "in flight", "much later"],
)
def test_what_is_no_retry(later: Exchange) -> None:
    assert counts(produce(0, ["a"], error=6), later) == [0, 0]


def test_an_error_that_no_client_retries_has_no_retry() -> None:
    assert counts(produce(0, ["a"], error=29), produce(10, ["a"], error=29)) == [0, 0]


def test_real_retries_are_recognised() -> None:
    exchanges = sample("wrong.pcap")
    retried = [count for count in counts(*exchanges) if count]
    assert retried == [*range(1, 13)]


def test_memory_is_bounded() -> None:
    retries, context = Retries(), Context()
    for number in range(CLIENTS + 50):
        failed = produce(number, ["a"], error=6, client=f"c{number}")
        retries.count(failed, context)
    for number in range(REQUESTS + 5):
        retries.count(produce(number, [f"r{number}"], error=6, client="one"), context)
    assert len(retries._failed) == CLIENTS
    assert max(map(len, retries._failed.values())) == REQUESTS
