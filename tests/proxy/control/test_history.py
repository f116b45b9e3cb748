"""The last exchanges and those who follow: bounded, and counted where they lose."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest

from barnabas.captures.checks.facts import GROUP
from barnabas.captures.kafka.exchange import Exchange
from barnabas.proxy.control import history as limits
from barnabas.proxy.control.history import KINDS, OTHER, Follower, History
from barnabas.specs.registry import api
from tests.proxy.frames import heartbeat_response

REBALANCE = heartbeat_response(0, 27)[8:]


def exchange(
    number: int, size: int = 0, *, key: int = 12, version: int = 1, **more: Any
) -> Exchange:
    body = {"request_body": bytes(size), **more}
    return Exchange(0, 1, "", None, None, key, version, number, 12, **body)


def filled(history: History, *sizes: int) -> list[int]:
    """Add an exchange of each size; return the ids of the retained ones, the latest first."""
    for size in sizes:
        history.add(exchange(history.count, size))
    return [one.correlation_id for one in history.latest()]


async def drained(follower: Follower) -> list[int]:
    """Return the numbers of the exchanges that wait for a follower."""
    follower.end()
    found = []
    while (one := await follower.next()) is not None:
        found.append(one.correlation_id)
    return found


def test_the_latest_are_kept_within_a_number_and_within_the_bytes_of_their_bodies() -> None:
    history = History(most=3)
    assert filled(history, 0, 0, 0, 0, 0) == [4, 3, 2]
    assert history.count == 5
    before = history.kept()
    filled(history, 0)
    assert [(number, one.correlation_id) for number, one in before] == [(2, 2), (3, 3), (4, 4)]
    assert [number for number, _ in history.kept()] == [3, 4, 5]
    history = History(bytes_=100)
    assert [filled(history, *sizes) for sizes in ((60, 30, 10), (1,), (100,))] == [
        [2, 1, 0],
        [3, 2, 1],
        [4],
    ]


def test_client_ids_count_among_the_bytes() -> None:
    history = History(bytes_=100)
    for number in range(5):
        one = exchange(number)
        one.client_id = "x" * 40
        history.add(one)
    assert filled(history) == [4, 3]


def test_what_was_decoded_of_an_exchange_is_not_kept_but_its_error_is() -> None:
    history = History(most=1)
    one = exchange(0, response_body=REBALANCE)
    assert one.response is not None
    history.add(one)
    (kept,) = history.latest()
    assert (kept.error, kept.response) == ("REBALANCE_IN_PROGRESS", one.response)
    assert next(history.latest()).known("response") is None


def test_facts_that_a_check_extracts_are_not_kept() -> None:
    history = History()
    first = exchange(0)
    first.facts = {"group": "g"}
    history.add(first)
    ((_, copy),) = history.following(-1, 1)
    GROUP.of(copy)
    assert copy.facts
    assert [kept.facts for _, kept in history.kept()] == [None]
    assert next(history.latest()).facts is None


def test_one_that_is_kept_without_bodies_still_has_its_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "BODIES", len(REBALANCE) - 1)
    history = History()
    history.add(exchange(0, len(REBALANCE) - 1))
    history.add(exchange(1, response_body=REBALANCE))
    late, early = history.latest()
    assert (late.response_body, late.error) == (None, "REBALANCE_IN_PROGRESS")
    assert early.request_body is not None


def test_a_client_that_invents_kinds_does_not_fill_the_memory() -> None:
    history = History(most=1)
    for key in (*range(KINDS + 10), 0):
        history.add(exchange(0, key=5000 + key))
    assert len(history.kinds) == KINDS + 1
    assert history.kinds[OTHER] == 10
    assert history.kinds["key 5000", "1", "unknown"] == 2


@pytest.mark.parametrize("history", [History(most=2), History(bytes_=20)], ids=["most", "bytes"])
async def test_what_a_follower_is_too_slow_for_is_lost_and_counted(history: History) -> None:
    with history.follow(lambda one: one.correlation_id != 9) as follower:
        for number in (1, 2, 9, 3, 4):
            history.add(exchange(number, 10))
        assert (follower.lost, history.lost) == (2, 2)
        taken = await follower.next()
        assert taken is not None
        assert taken.correlation_id == 1
        history.add(exchange(5, 10))
        assert history.lost == 2, "there is room again"
        follower.lost = 0
        assert await drained(follower) == [2, 5]
    with history.follow(lambda _: True) as follower:
        history.add(exchange(5, 10))
        assert await drained(follower) == [5], "each has its own room"


def test_it_learns_what_exchanges_teach() -> None:
    topic = uuid.UUID(int=7)
    topics = [{"name": "orders", "topic_id": topic, "partitions": []}]
    body = {"topics": topics, "brokers": [], "cluster_id": None}
    encoded = api("Metadata").response.codec(12).encode(body)
    history = History()
    history.add(exchange(0, key=3, version=12, response_body=encoded))
    assert history.context.topics[topic] == "orders"


async def test_who_waits_for_more_hears_of_the_end() -> None:
    history = History()
    waiting = asyncio.create_task(history.more(-1))
    await asyncio.sleep(0)
    history.close()
    await asyncio.wait_for(waiting, 60)
