"""The stream of numbers: in runs, from where it is asked for, and what it skips it says."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import Filter
from barnabas.loop import run
from barnabas.page import exchanges as page
from barnabas.page.exchanges import CHUNK, MOST_WAITING, STREAMS, Exchanges
from barnabas.proxy.control.history import History
from tests.page.pages import called, complete


def exchange(number: int) -> Exchange:
    return Exchange(0, 1, "a:1", f"c{number % 2}", None, 12, 1, number, 12)


def added(history: History, count: int) -> None:
    for _ in range(count):
        history.add(exchange(history.count))


def follow(history: History, after: int, passes: Filter | None) -> AsyncIterator[dict[str, Any]]:
    async def lines() -> AsyncIterator[dict[str, Any]]:
        async for line in Exchanges(history, {})._lines(after, passes):
            yield json.loads(line)

    return lines()


def odd(one: Exchange) -> bool:
    return one.client_id == "c1"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAUSE", 0.001)


async def values_of(history: History, column: str) -> Any:
    request = Request({"type": "http", "query_string": f"column={column}".encode()})
    return json.loads(bytes((await Exchanges(history, {}).values(request)).body))


async def test_values_are_those_of_columns_that_can_be_completed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = History()
    added(history, 3)
    assert await values_of(history, "client_id") == ["c0", "c1"]
    with pytest.raises(HTTPException) as refused:
        await values_of(history, "correlation_id")
    assert (refused.value.status_code, refused.value.detail) == (
        400,
        "column: correlation_id has no values to complete",
    )
    monkeypatch.setattr(page, "COUNTED", 1)
    assert await values_of(history, "client_id") == ["c0"]


async def test_all_that_are_held_are_one_run_and_those_to_come_another() -> None:
    history = History(most=100)
    added(history, 250)
    lines = follow(history, -1, None)
    first = await anext(lines)
    assert first["runs"] == [[150, 249]]
    assert (first["after"], first["first"], first["end"]) == (249, 150, 250)
    added(history, 3)
    assert (await anext(lines))["runs"] == [[250, 252]]
    history.close()
    assert [line["over"] async for line in lines][-1]


async def test_a_filter_is_asked_about_each_once() -> None:
    history = History(most=10_000)
    added(history, 2 * CHUNK + 7)
    history.close()
    found = [line async for line in follow(history, 4, odd)]
    assert [len(line["runs"]) for line in found][:2] == [CHUNK // 2, CHUNK // 2]
    numbers = [run[0] for line in found for run in line["runs"]]
    assert numbers == list(range(5, 2 * CHUNK + 7, 2))
    assert sum(line["skipped"] for line in found) == 0


async def test_a_filter_that_can_not_keep_up_skips_and_says_so() -> None:
    history = History(most=2 * MOST_WAITING)
    added(history, 10)
    lines = follow(history, -1, odd)
    await anext(lines)
    added(history, MOST_WAITING + 1)
    found = await anext(lines)
    assert found["skipped"] == MOST_WAITING + 1 - CHUNK
    assert found["after"] == history.count - 1
    assert found["runs"][0][0] >= history.count - CHUNK


async def test_a_stream_says_now_and_then_that_it_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    history = History()
    monkeypatch.setattr(page, "ALIVE", 0.005)
    lines = follow(history, -1, None)
    await anext(lines)
    assert (await asyncio.wait_for(anext(lines), 5))["runs"] == []


def test_a_filter_is_asked_no_more_when_its_reader_has_gone() -> None:
    asked: list[int] = []

    def slow(one: Exchange) -> bool:
        asked.append(one.correlation_id)
        time.sleep(0.01)
        return True

    async def main() -> None:
        history = History(most=CHUNK)
        added(history, CHUNK)
        reader = asyncio.ensure_future(anext(follow(history, -1, slow)))
        while not asked:
            await asyncio.sleep(0.001)
        reader.cancel()
        await asyncio.wait({reader})

    run(main())  # waits for threads
    assert len(asked) < CHUNK // 2


async def test_there_are_so_many_streams_at_a_time_and_one_that_is_left_makes_room() -> None:
    held = History()
    added(held, 1)
    some = Exchanges(held, {})
    asked = Request({"type": "http", "query_string": b"", "headers": []})
    async with contextlib.AsyncExitStack() as open_ones:
        for _ in range(STREAMS):
            lines = some._lines(-1, None)
            assert isinstance(lines, AsyncGenerator)
            open_ones.push_async_callback(lines.aclose)
            await anext(lines)
        with pytest.raises(HTTPException, match=f"{STREAMS} streams are open already"):
            await some.follow(asked)
    assert some.streams == 0
    assert (await some.follow(asked)).status_code == 200


def test_an_exchange_beyond_the_last_says_which_is_the_last() -> None:
    with called() as call:
        complete(lambda: call("/v1/latency").body)
        answer = call("/v1/exchanges/1000")
    assert answer.status == 404
    assert "there is no exchange 1000: the last is 52" in answer.body.decode()
