"""The stream of figures: from what is retained, then at each interval."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.live_figures import Figures
from barnabas.captures.summary.traffic import SECOND
from barnabas.proxy.control.figures import FigureStream, events
from barnabas.proxy.control.history import FOLLOWERS, History


def exchange(number: int) -> Exchange:
    return Exchange(number, 1, "a:1", "app", None, 3, 1, number, 12, 20, latency_ms=2.0)


def snapshot_of(text: str) -> dict[str, Any]:
    name, data = text.removesuffix("\n\n").split("\n")
    assert name == "event: figures"
    found: dict[str, Any] = json.loads(data.removeprefix("data: "))
    return found


async def test_retained_exchanges_then_new_ones_then_the_end() -> None:
    history = History()
    for number in range(3):
        history.add(exchange(number))
    stream = events(history, 0.01, now=lambda: SECOND)
    assert await anext(stream) == ""
    assert history.followers == 1
    history.add(exchange(3))
    first = snapshot_of(await anext(stream))
    assert (first["total"]["count"], first["missed"]) == (3, 0)
    second = snapshot_of(await anext(stream))
    assert [row["name"] for row in second["clients"]] == ["app"]
    assert second["total"]["count"] == 4
    history.add(exchange(4))
    history.close()
    last = snapshot_of(await anext(stream))
    assert last["total"]["count"] == 5
    assert [text async for text in stream] == ["event: end\ndata: {}\n\n"]
    assert history.followers == 0


async def test_what_is_not_counted_is_reported() -> None:
    history = History(most=2)
    for number in range(5):
        history.add(exchange(number))  # three are dropped before
    stream = events(history, 0.01, now=lambda: SECOND)
    await anext(stream)
    assert snapshot_of(await anext(stream))["missed"] == 3
    for number in range(5, 10):
        history.add(exchange(number))
    later = snapshot_of(await anext(stream))
    assert (later["total"]["count"], later["missed"]) == (4, 6)
    await stream.aclose()


async def test_groups_are_unknown_after_exchanges_were_lost() -> None:
    exchanges = list(open_capture(Path("captures/samples/flapping.pcapng")).exchanges())
    joined = next(at for at, each in enumerate(exchanges) if each.api == "SyncGroup")
    later = [each for each in exchanges[joined + 1 :] if each.api == "Heartbeat"]
    history = History(most=joined + 1)
    for each in exchanges[: joined + 1]:
        history.add(each)
    stream = events(history, 0.01, now=lambda: SECOND)
    await anext(stream)
    (before,) = snapshot_of(await anext(stream))["groups"]
    for _ in range(joined + 2):
        history.add(exchange(0))
    assert snapshot_of(await anext(stream))["missed"] == 1
    history.add(later[0])
    (after,) = snapshot_of(await anext(stream))["groups"]
    assert (before["state"], after["state"]) == ("stable", "empty")
    await stream.aclose()


async def test_snapshots_are_computed_one_at_a_time_outside_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[int] = []
    loop_thread = threading.get_ident()
    begun, go_on = threading.Event(), threading.Event()

    def snapshot(_: Figures, now: int) -> dict[str, Any]:
        threads.append(threading.get_ident())
        begun.set()
        if threading.get_ident() != loop_thread:
            go_on.wait()
        return {}

    monkeypatch.setattr(Figures, "snapshot", snapshot)
    streams = [events(History(), 1, now=lambda: SECOND) for _ in range(2)]
    for stream in streams:
        await anext(stream)
    snapshots = [asyncio.ensure_future(anext(stream)) for stream in streams]
    await asyncio.to_thread(begun.wait)  # the loop goes on meanwhile
    computing = len(threads)
    go_on.set()
    assert await asyncio.gather(*snapshots) == ['event: figures\ndata: {"missed":0}\n\n'] * 2
    assert (computing, len(threads)) == (1, 2)
    assert len({*threads, loop_thread}) == 2, "one thread, which is not the loop's"
    for stream in streams:
        await stream.aclose()


@pytest.mark.parametrize("interval", ["0", "31", "nan", "soon", "-1"])
async def test_an_interval_has_bounds(interval: str) -> None:
    scope = {"type": "http", "query_string": f"interval={interval}".encode(), "headers": []}
    with pytest.raises(HTTPException) as refused:
        await FigureStream(History()).stream(Request(scope))
    assert (refused.value.status_code, refused.value.detail) == (
        400,
        "interval is 0.1 to 30 seconds",
    )


async def test_streams_are_bounded() -> None:
    history = History()
    open_streams = [events(history, 1) for _ in range(FOLLOWERS)]
    for stream in open_streams:
        await anext(stream)
    with pytest.raises(HTTPException) as refused:
        await FigureStream(history).stream(
            Request({"type": "http", "query_string": b"", "headers": []})
        )
    assert refused.value.status_code == 503
    for stream in open_streams:
        await stream.aclose()
