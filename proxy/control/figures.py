"""The figures of the last seconds as server-sent events, in the form of `captures.summary.live_figures`.

`figures` comes at once, with the retained exchanges, and then at each interval. `missed` counts the
exchanges that are not in it. `end` means that the proxy stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from barnabas.captures.summary.live_figures import Figures
from barnabas.proxy.control.history import Follower, History, TooMany
from barnabas.proxy.control.stream import event
from barnabas.proxy.network.clock import clock

LEAST: Final = 0.1
"""The shortest interval in seconds."""

MOST: Final = 30.0
"""The longest interval in seconds."""

CHUNK: Final = 20
"""Exchanges that are added before other requests have their turn."""

_SNAPSHOTS: Final = ThreadPoolExecutor(1, "figures")
"""Computes snapshots, which take 20 ms with 100 clients and 100 topics, outside the loop.

It has one thread, so that the loop competes with one computation, however many streams there are.
"""


@dataclass(frozen=True, slots=True)
class FigureStream:
    """The request for figures."""

    history: History

    @property
    def routes(self) -> list[Route]:
        """Return the routes of the request."""
        return [Route("/figures/stream", self.stream, methods=["GET"])]

    async def stream(self, request: Request) -> Response:
        """Send rates, errors and latencies of the last seconds by client, topic, group and API.

        They come every `interval` seconds (1), as server-sent events.
        """
        await self.history.fresh()
        stream = events(self.history, _interval(request))
        try:
            await anext(stream)  # follows from here on
        except TooMany as problem:
            raise HTTPException(503, str(problem)) from None
        headers = {"Cache-Control": "no-store"}
        return StreamingResponse(stream, 200, headers, "text/event-stream")


def _interval(request: Request) -> float:
    text = request.query_params.get("interval", "1")
    try:
        interval = float(text)
    except ValueError:
        interval = 0.0
    if not LEAST <= interval <= MOST:
        raise HTTPException(400, f"interval is {LEAST:g} to {MOST:g} seconds")
    return interval


async def events(
    history: History, interval: float, now: Callable[[], int] = clock
) -> AsyncGenerator[str]:
    """Yield the figures, now and at each interval, until no more exchanges will come.

    The first text is empty and comes at once: exchanges are followed from then on.

    Args:
        history: The exchanges.
        interval: Seconds between two events.
        now: Returns the time in ns since the epoch.

    Raises:
        TooMany: There are enough followers.
    """
    figures, missed = Figures(history.context), history.first
    with history.follow(lambda _: True) as follower:
        retained = history.following(-1, history.count)
        yield ""
        for number, (_, exchange) in enumerate(retained):
            exchange.losses += missed
            figures.add(exchange)
            if number % CHUNK == 0:
                await asyncio.sleep(0)
        del retained
        over, run = False, asyncio.get_running_loop().run_in_executor
        while True:
            yield await run(_SNAPSHOTS, _text, figures, now(), missed)
            if over:
                yield event("end", {})
                return
            lost, over = await _fed(figures, follower, interval, missed)
            missed += lost


def _text(figures: Figures, now: int, missed: int) -> str:
    return event("figures", {**figures.snapshot(now), "missed": missed})


async def _fed(
    figures: Figures, follower: Follower, interval: float, missed: int
) -> tuple[int, bool]:
    """Add the exchanges that come within an interval, after `missed` lost ones.

    Returns:
        The number of lost exchanges, and whether no more will come.
    """
    lost = count = 0
    try:
        async with asyncio.timeout(interval):
            while True:
                exchange = await follower.next()
                if exchange is not None:
                    exchange.losses += missed + lost + follower.lost
                    figures.add(exchange)
                    count += 1
                    if count % CHUNK == 0:
                        await asyncio.sleep(0)
                elif follower.lost:
                    lost += follower.lost
                    follower.lost = 0
                else:
                    return lost, True
    except TimeoutError:
        return lost, False
