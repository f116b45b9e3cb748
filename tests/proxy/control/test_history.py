"""The last exchanges and those who follow: bounded, and counted where they lose."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import ExitStack
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.proxy.control import history as limits
from barnabas.proxy.control.history import FOLLOWERS, KINDS, OTHER, Follower, History, TooMany
from barnabas.specs.registry import api
from tests.proxy.frames import heartbeat_response

REBALANCE = heartbeat_response(0, 27)[8:]


def exchange(
    number: int, size: int = 0, *, key: int = 12, version: int = 1, **more: Any
) -> Exchange:
    body = {"request_body": bytes(size), **more}
    return Exchange(0, 1, "", None, None, key, version, number, 12, **body)


def filled(history: History, *sizes: int) -> list[int]:
    """The ids of those that are kept, the latest first, when one of each size has been added."""
    for size in sizes:
        history.add(exchange(history.count, size))
    return [one.correlation_id for one in history.latest()]


async def drained(follower: Follower) -> list[int]:
    """What waits for a follower, by number."""
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


def test_one_with_large_bodies_is_kept_without_them() -> None:
    history = History()
    filled(history, limits.BODIES, limits.BODIES + 1)
    late, early = history.latest()
    assert late.request_body is None
    assert early.request_body is not None


def test_what_was_decoded_of_an_exchange_is_not_kept_but_its_error_is() -> None:
    history = History(most=1)
    one = exchange(0, response_body=REBALANCE)
    assert one.response is not None
    history.add(one)
    (kept,) = history.latest()
    assert (kept.error, kept.response) == ("REBALANCE_IN_PROGRESS", one.response)
    assert next(history.latest())._response is not kept._response


def test_one_that_is_kept_without_bodies_still_has_its_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "BODIES", 1)
    history = History()
    history.add(exchange(0, response_body=REBALANCE))
    (kept,) = history.latest()
    assert (kept.response_body, kept.error) == (None, "REBALANCE_IN_PROGRESS")


def test_kinds_are_counted_with_their_error() -> None:
    history, good = History(), heartbeat_response(0)[8:]
    for body in (good, good, REBALANCE, None):
        history.add(exchange(0, response_body=body))
    assert {error: count for (_, _, error), count in history.kinds.items()} == {
        "none": 2, "REBALANCE_IN_PROGRESS": 1, "unknown": 1,
    }  # fmt: skip
    assert {kind[:2] for kind in history.kinds} == {("Heartbeat", "1")}


def test_a_client_that_invents_kinds_does_not_fill_the_memory() -> None:
    history = History(most=1)
    for key in (*range(KINDS + 10), 0):
        history.add(exchange(0, key=5000 + key))
    assert len(history.kinds) == KINDS + 1
    assert history.kinds[OTHER] == 10
    assert history.kinds["key 5000", "1", "unknown"] == 2


async def test_a_follower_gets_those_that_pass_in_order_and_no_earlier_ones() -> None:
    history = History()
    filled(history, 0)
    with history.follow(lambda one: one.correlation_id % 2 == 1) as follower:
        filled(history, *[0] * 5)
        assert await drained(follower) == [1, 3, 5]


@pytest.mark.parametrize("history", [History(most=2), History(bytes_=20)], ids=["most", "bytes"])
async def test_what_a_follower_is_too_slow_for_is_lost_and_counted(history: History) -> None:
    with history.follow(lambda one: one.correlation_id != 9) as follower:
        for number in (1, 2, 9, 3, 4):
            history.add(exchange(number, 10))
        assert (follower.lost, history.lost) == (2, 2)
        follower.lost = 0
        assert await drained(follower) == [1, 2]
    with history.follow(lambda _: True) as follower:
        history.add(exchange(5, 10))
        assert await drained(follower) == [5], "each has its own room"


async def test_room_is_free_again_when_something_was_taken() -> None:
    history = History(bytes_=10)
    with history.follow(lambda _: True) as follower:
        for number in range(3):
            history.add(exchange(number, 10))
            found = await follower.next()
            assert found is not None
            assert found.correlation_id == number
        assert follower.lost == 0


async def test_waiting_ends_with_an_exchange_a_loss_or_the_end() -> None:
    history = History(most=1, bytes_=0)
    with history.follow(lambda _: True) as follower:
        for last, taken, lost in ((exchange(1), 1, 0), (exchange(2, 1), None, 1), (None, None, 0)):
            waiting = asyncio.create_task(follower.next())
            await asyncio.sleep(0)
            assert not waiting.done()
            if last is None:
                history.close()
            else:
                history.add(last)
            found = await asyncio.wait_for(waiting, 60)
            assert (found and found.correlation_id, follower.lost) == (taken, lost)
            follower.lost = 0


def test_the_first_and_the_last_follower_are_told_of() -> None:
    told: list[bool] = []
    history = History(told.append)
    with history.follow(lambda _: True):
        with history.follow(lambda _: True):
            assert history.followers == 2
        assert told == [True]
    assert told == [True, False]
    with pytest.raises(ZeroDivisionError), history.follow(lambda _: True):
        _ = 1 / 0
    assert told == [True, False, True, False]
    assert history.followers == 0


def test_there_are_only_so_many() -> None:
    history = History()
    with ExitStack() as others:
        for _ in range(FOLLOWERS - 1):
            others.enter_context(history.follow(lambda _: True))
        with history.follow(lambda _: True):  # noqa: SIM117 - it is there when the next one comes
            with pytest.raises(TooMany), history.follow(lambda _: True):
                pass
        with history.follow(lambda _: True):
            pass


def test_it_learns_what_exchanges_teach() -> None:
    topic = uuid.UUID(int=7)
    topics = [{"name": "orders", "topic_id": topic, "partitions": []}]
    body = {"topics": topics, "brokers": [], "cluster_id": None}
    encoded = api("Metadata").response.codec(12).encode(body)
    history = History()
    history.add(exchange(0, key=3, version=12, response_body=encoded))
    assert history.context.topics[topic] == "orders"
