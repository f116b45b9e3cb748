"""The last exchanges and those who follow: bounded, and counted where they lose."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.proxy.control import history as limits
from barnabas.proxy.control.history import FOLLOWERS, KINDS, OTHER, Follower, History, TooMany
from barnabas.specs.registry import api
from tests.proxy.playbook import response


def exchange(number: int, size: int = 0, *, key: int = 12, version: int = 1) -> Exchange:
    return Exchange(0, 1, "", None, None, key, version, number, 12, request_body=bytes(size))


def ids(found: Iterable[Exchange]) -> list[int]:
    return [one.correlation_id for one in found]


def drained(follower: Follower) -> list[int]:
    """What waits for a follower, by number."""

    async def main() -> list[int]:
        found = []
        follower.end()
        while (one := await follower.next()) is not None:
            found.append(one.correlation_id)
        return found

    return asyncio.run(main())


def test_the_latest_are_kept_within_a_number() -> None:
    history = History(most=3)
    for number in range(5):
        history.add(exchange(number))
    assert ids(history.latest()) == [4, 3, 2]
    assert history.count == 5
    before = history.kept()
    history.add(exchange(5))
    assert [(number, one.correlation_id) for number, one in before] == [(2, 2), (3, 3), (4, 4)]
    assert [number for number, _ in history.kept()] == [3, 4, 5]


def test_and_within_the_bytes_of_their_bodies() -> None:
    history = History(bytes_=100)
    for number, size in enumerate((60, 30, 10)):
        history.add(exchange(number, size))
    assert ids(history.latest()) == [2, 1, 0]
    history.add(exchange(3, 1))
    assert ids(history.latest()) == [3, 2, 1]
    history.add(exchange(4, 100))
    assert ids(history.latest()) == [4]


def test_one_with_large_bodies_is_kept_without_them() -> None:
    history = History()
    history.add(exchange(0, limits.BODIES))
    history.add(exchange(1, limits.BODIES + 1))
    late, early = history.latest()
    assert late.request_body is None
    assert early.request_body is not None


def test_what_was_decoded_of_an_exchange_is_not_kept_but_its_error_is() -> None:
    history = History(most=1)
    body = response("Heartbeat", 0, error_code=27)[8:]
    one = Exchange(0, 1, "", None, None, 12, 1, 0, 12, response_body=body)
    assert one.response is not None
    history.add(one)
    (kept,) = history.latest()
    assert kept.error == "REBALANCE_IN_PROGRESS"
    assert kept.response == one.response
    assert next(history.latest())._response is not kept._response


def test_one_that_is_kept_without_bodies_still_has_its_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "BODIES", 1)
    history = History()
    body = response("Heartbeat", 0, error_code=27)[8:]
    history.add(Exchange(0, 1, "", None, None, 12, 1, 0, 12, response_body=body))
    (kept,) = history.latest()
    assert (kept.response_body, kept.error) == (None, "REBALANCE_IN_PROGRESS")


def test_kinds_are_counted_with_their_error() -> None:
    history = History()
    good, bad = (response("Heartbeat", 0, error_code=code)[8:] for code in (0, 27))
    for body in (good, good, bad, None):
        history.add(Exchange(0, 1, "", None, None, 12, 1, 0, 12, response_body=body))
    assert history.kinds == {
        ("Heartbeat", "1", "none"): 2,
        ("Heartbeat", "1", "REBALANCE_IN_PROGRESS"): 1,
        ("Heartbeat", "1", "unknown"): 1,
    }


def test_a_client_that_invents_kinds_does_not_fill_the_memory() -> None:
    history = History(most=1)
    for key in range(KINDS + 10):
        history.add(exchange(0, key=5000 + key))
    history.add(exchange(0, key=5000))
    assert len(history.kinds) == KINDS + 1
    assert history.kinds[OTHER] == 10
    assert history.kinds["key 5000", "1", "unknown"] == 2


def test_a_follower_gets_those_that_pass_in_order_and_no_earlier_ones() -> None:
    history = History()
    history.add(exchange(0))
    with history.follow(lambda one: one.correlation_id % 2 == 1) as follower:
        for number in range(1, 6):
            history.add(exchange(number))
        assert drained(follower) == [1, 3, 5]


@pytest.mark.parametrize("history", [History(most=2), History(bytes_=20)], ids=["most", "bytes"])
def test_what_a_follower_is_too_slow_for_is_lost_and_counted(history: History) -> None:
    with history.follow(lambda one: one.correlation_id != 9) as follower:
        for number in (1, 2, 9, 3, 4):
            history.add(exchange(number, 10))
        assert (follower.lost, history.lost) == (2, 2)
        follower.lost = 0
        assert drained(follower) == [1, 2]
    with history.follow(lambda _: True) as follower:
        history.add(exchange(5, 10))
        assert drained(follower) == [5], "each has its own room"


def test_room_is_free_again_when_something_was_taken() -> None:
    async def main() -> None:
        history = History(bytes_=10)
        with history.follow(lambda _: True) as follower:
            for number in range(3):
                history.add(exchange(number, 10))
                found = await follower.next()
                assert found is not None
                assert found.correlation_id == number
            assert follower.lost == 0

    asyncio.run(main())


def test_waiting_ends_with_an_exchange_a_loss_or_the_end() -> None:
    async def main() -> None:
        history = History(most=1, bytes_=0)
        with history.follow(lambda _: True) as follower:
            for last in (exchange(1), exchange(2, 1), None):
                waiting = asyncio.create_task(follower.next())
                await asyncio.sleep(0)
                assert not waiting.done()
                if last is None:
                    history.close()
                else:
                    history.add(last)
                found = await asyncio.wait_for(waiting, 5)
                assert (found is not None) == (last is not None and last.correlation_id == 1)
                assert follower.lost == (last is not None and last.correlation_id == 2)
                follower.lost = 0

    asyncio.run(main())


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
    open_ = [history.follow(lambda _: True) for _ in range(FOLLOWERS)]
    for one in open_:
        one.__enter__()
    with pytest.raises(TooMany), history.follow(lambda _: True):
        pass
    open_.pop().__exit__(None, None, None)
    with history.follow(lambda _: True):
        pass
    for one in open_:
        one.__exit__(None, None, None)


def test_it_learns_what_exchanges_teach() -> None:
    topic = uuid.UUID(int=7)
    body = {
        "topics": [{"name": "orders", "topic_id": topic, "partitions": []}],
        "brokers": [],
        "cluster_id": None,
    }
    history = History()
    found = exchange(0, key=3, version=12)
    found.response_body = api("Metadata").response.codec(12).encode(body)
    history.add(found)
    assert history.context.topics[topic] == "orders"


def test_client_ids_count_among_the_bytes() -> None:
    history = History(bytes_=100)
    for number in range(5):
        one = exchange(number)
        one.client_id = "x" * 40
        history.add(one)
    assert ids(history.latest()) == [4, 3]
