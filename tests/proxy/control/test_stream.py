"""Exchanges as server-sent events: by the generator alone, and over HTTP with readers of all kinds."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.proxy.control.history import FOLLOWERS, History
from barnabas.proxy.control.stream import events
from tests.proxy.control.desk import desk
from tests.proxy.servers import SOON


def exchange(number: int, client_id: str | None = None) -> Exchange:
    return Exchange(0, 1, "", client_id, None, 3, 1, number, 12)


BIG = "x" * 50_000


def parsed(text: str) -> tuple[str, Any]:
    """One event: its name and data; of a comment the text."""
    first, *rest = text.removesuffix("\n\n").split("\n")
    if first.startswith(":"):
        return "comment", first[2:]
    return first.removeprefix("event: "), json.loads(rest[0].removeprefix("data: "))


async def following(
    history: History, *numbers: int, keep: Any = lambda _: True, **more: Any
) -> Any:
    """Open a stream, and add exchanges that pass."""
    stream = events(history, keep, **more)
    assert await anext(stream) == ""
    for number in numbers:
        history.add(exchange(number))
    return stream


async def test_those_that_pass_then_what_was_lost_then_the_end() -> None:
    history = History(most=2)
    history.add(exchange(0))
    stream = await following(history, 1, 2, 3, 4, 5, keep=lambda found: found.correlation_id != 1)
    history.close()
    found = [parsed(text) async for text in stream]
    assert [name for name, _ in found] == ["lost", "exchange", "exchange", "end"]
    assert found[0][1] == {"count": 2}
    assert [row["correlation_id"] for _, row in found[1:3]] == [2, 3]
    assert (history.lost, history.followers) == (2, 0)


async def test_a_loss_just_before_the_end_is_told() -> None:
    history = History(most=0)
    stream = await following(history)
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    history.add(exchange(1))
    history.close()
    assert parsed(await waiting) == ("lost", {"count": 1})
    assert [parsed(text) async for text in stream] == [("end", {})]


async def test_a_comment_shows_now_and_then_that_the_stream_is_alive() -> None:
    history = History()
    stream = await following(history, alive=0.01)
    assert parsed(await anext(stream)) == ("comment", "alive")
    history.add(exchange(1))
    assert parsed(await anext(stream))[0] == "exchange"
    await stream.aclose()
    assert history.followers == 0


async def test_the_rest_of_the_proxy_has_its_turn_between_two_exchanges() -> None:
    stream = await following(History(), *range(100))
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    for _ in range(100):
        await anext(stream)
    assert turns >= 90
    task.cancel()
    await stream.aclose()


# over HTTP


async def read_event(reader: asyncio.StreamReader) -> tuple[str, Any]:
    data = await asyncio.wait_for(reader.readuntil(b"\n\n"), SOON)
    return parsed(data.decode())


async def test_with_the_log_off_exchanges_are_looked_at_for_as_long_as_somebody_follows() -> None:
    async with desk() as it:
        await it.exchange(1)
        assert it.it.done == []
        reader, writer = await it.follow()
        assert it.history.followers == 1
        await it.exchange(2)
        name, row = await read_event(reader)
        assert (name, row["correlation_id"], row["api"]) == ("exchange", 2, "Metadata")
        assert [broker["node_id"] for broker in row["response"]["brokers"]] == [0, 1, 2]
        writer.close()
        await it.it.until(lambda: not it.history.followers)
        assert it.it.proxy.observed is False
        await it.exchange(3)
        assert [exchange.correlation_id for exchange in it.it.done] == [2]


async def test_a_log_that_is_on_stays_on_when_nobody_follows_any_longer() -> None:
    async with desk(observed=True) as it:
        _, writer = await it.follow()
        writer.close()
        await it.it.until(lambda: not it.history.followers)
        await it.exchange(1)
        assert [exchange.correlation_id for exchange in it.it.done] == [1]


async def test_a_ninth_reader_is_refused_until_one_goes() -> None:
    async with desk() as it:
        open_ = [await it.follow() for _ in range(FOLLOWERS)]
        answer = await it.ask("GET", "/exchanges/stream")
        assert (answer.status, answer.error) == (503, "8 streams are open already: close one")
        open_.pop()[1].close()
        await it.it.until(lambda: it.history.followers == FOLLOWERS - 1)
        open_.append(await it.follow())
        for _, writer in open_:
            writer.close()


async def test_a_reader_that_does_not_read_loses_exchanges_and_is_told_and_holds_up_nothing() -> (
    None
):
    async with desk(most=50) as it:
        reader, writer = await it.follow()
        count = 0
        while not it.history.lost and count < 2000:
            it.history.add(exchange(7, BIG))
            count += 1
            await asyncio.sleep(0)
        waiting = it.history._followers[0]._waiting.items
        assert len(waiting) == 50
        it.history.close()
        told = shown = 0
        while (found := await read_event(reader))[0] != "end":
            told += found[1]["count"] if found[0] == "lost" else 0
            shown += found[0] == "exchange"
        assert told == it.history.lost
        assert told + shown == count
        writer.close()


@pytest.mark.parametrize("reset", [False, True])
async def test_a_reader_that_does_not_read_and_goes_away_is_forgotten(reset: bool) -> None:
    async with desk(most=50) as it:
        _, writer = await it.follow()
        while not it.history.lost:
            it.history.add(exchange(7, BIG))
            await asyncio.sleep(0)
        if reset:
            writer.transport.abort()
        else:
            writer.close()
        await it.it.until(lambda: not it.history.followers)
