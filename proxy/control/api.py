"""The requests that the control port understands, and what they do to the proxy.

Everything runs in the loop of the process that listens; where others carry the connections, they are asked.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route

from barnabas.api_version import PREFIX
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import Filter
from barnabas.captures.kafka.wording import shorten
from barnabas.proxy.control import views
from barnabas.proxy.control.bodies import (
    error_response,
    json_response,
    json_text_response,
    no_answer,
    read_filter,
)
from barnabas.proxy.control.breakpoints import Breakpoints
from barnabas.proxy.control.drafts import Drafts
from barnabas.proxy.control.history import MOST, History, TooMany
from barnabas.proxy.control.metrics import exposition
from barnabas.proxy.control.omissions import NoAnswer
from barnabas.proxy.control.rules import Rules
from barnabas.proxy.control.selection import selection
from barnabas.proxy.control.stream import events
from barnabas.proxy.control.target import Refused, Target
from barnabas.proxy.network.report import Connection, Report
from barnabas.specs.json_text import compact

LISTED: Final = 64 << 20
"""Characters of exchanges in one answer, nearly: bodies in JSON take many times their bytes. The oldest
are left out."""

MAX_DIGITS: Final = 18
"""Of a number in a query."""

Endpoint = Callable[[Request], Awaitable[Response]]

DroppedSpans = Callable[[], int | None]
"""How many spans the collector did not take so far; None: there is none."""


def application(api: Sequence[BaseRoute], files: Iterable[BaseRoute] = ()) -> Starlette:
    """The application, without its guard: the API under its version, and files beside it."""
    return Starlette(
        routes=[Mount(PREFIX, routes=api), *files],
        exception_handlers={HTTPException: error_response, NoAnswer: no_answer},
    )


def routes(
    target: Target,
    history: History,
    topics: Mapping[uuid.UUID, str],
    drain: Callable[[], None],
    unlogged: Callable[[int], int],
    dropped_spans: DroppedSpans = lambda: None,
) -> list[Route]:
    """All requests to a process that has one proxy.

    `drain` makes it stop as a signal does; `unlogged` is how many exchanges the log has lost, of so many.
    """
    process = Process(target, drain, unlogged)
    return [
        *of_proxy(target, history, topics, dropped_spans),
        Route("/log", process.log, methods=["GET"]),
        Route("/drain", process.drain, methods=["POST"]),
    ]


def of_proxy(
    target: Target,
    history: History,
    topics: Mapping[uuid.UUID, str],
    dropped_spans: DroppedSpans = lambda: None,
) -> list[Route]:
    """The requests about a proxy. `topics` are for filters."""
    control = Control(target, history, topics, dropped_spans)
    one = "/connections/{number}"
    known: tuple[tuple[str, str, Endpoint], ...] = (
        ("GET", "/status", control.status),
        ("GET", "/connections", control.connections),
        ("POST", f"{one}/pause", control.pause),
        ("POST", f"{one}/step", control.step),
        ("POST", f"{one}/resume", control.resume),
        ("POST", f"{one}/close", control.close),
        ("GET", "/exchanges", control.exchanges),
        ("GET", "/exchanges/stream", control.stream),
        ("GET", "/metrics", control.metrics),
    )
    own = [Route(path, endpoint, methods=[method]) for method, path, endpoint in known]
    drafts = Drafts(
        history,
        topics,
        lambda: (target.scenario, target.options.faults),
        lambda: target.options.reading,
    )
    return [*own, *Rules(target).routes, *Breakpoints(target).routes, *drafts.routes]


async def listed(latest: Iterable[Exchange | None], most: int, context: Context) -> str:
    """A JSON array of so many exchanges at most, LISTED characters or a little more. They are given latest
    first, None where one is left out, and stand oldest first."""
    rows: deque[str] = deque()
    size = 0
    for exchange in latest:
        if len(rows) >= most or size > LISTED:
            break
        if exchange is not None:
            rows.appendleft(compact(views.exchange(exchange, context)))
            size += len(rows[0])
        await asyncio.sleep(0)  # bodies take their time, and traffic has its turn
    return f"[{','.join(rows)}]"


async def whole_report(target: Target) -> Report:
    """Return the report of all workers, for an answer that can't name those that are missing.

    Raises NoAnswer if one does not answer.
    """
    report = await target.report()
    if report.missing:
        raise NoAnswer(report.missing)
    return report


@dataclass(frozen=True, slots=True)
class Control:
    """The endpoints of a proxy."""

    target: Target
    history: History
    topics: Mapping[uuid.UUID, str]
    dropped_spans: DroppedSpans

    async def status(self, _: Request) -> Response:
        """The proxy as a whole."""
        await self.history.fresh()
        target, report = self.target, await self.target.report()
        return json_response(views.status(report, target.options, target.address, self.history))

    # connections

    async def connections(self, _: Request) -> Response:
        """Those that are open."""
        return json_response((await whole_report(self.target)).connections)

    async def pause(self, request: Request) -> Response:
        """Read from neither side."""
        return await self._connection(request, self.target.pause)

    async def step(self, request: Request) -> Response:
        """Read the next frame of one direction, now or when it comes."""
        match request.query_params.get("direction", "request"):
            case "request" | "response" as direction:
                return await self._connection(
                    request, lambda number: self.target.step(number, direction)
                )
            case other:
                raise HTTPException(400, f"direction is request or response, not {other!r}")

    async def resume(self, request: Request) -> Response:
        """Read from both sides again."""
        return await self._connection(request, self.target.resume)

    async def close(self, request: Request) -> Response:
        """Close both sides."""
        return await self._connection(request, self.target.close)

    async def _connection(
        self, request: Request, command: Callable[[int], Awaitable[Connection]]
    ) -> Response:
        text = request.path_params["number"]
        number = int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else -1
        try:
            return json_response(await command(number if str(number) == text else -1))
        except LookupError:
            shown = shorten(text, 20)
            raise HTTPException(
                404, f"no connection {shown} is open: GET {PREFIX}/connections lists them"
            ) from None
        except Refused as problem:
            raise HTTPException(409, str(problem)) from None

    # exchanges

    async def exchanges(self, request: Request) -> Response:
        """The last ones, oldest first: `last=N` of those that pass `filter`.

        With the log off there are those only that somebody followed.
        """
        wanted = request.query_params.get("last", str(MOST))
        if not wanted.isdecimal() or len(wanted) > MAX_DIGITS:
            shown = shorten(wanted, MAX_DIGITS)
            raise HTTPException(400, f"last is a number of exchanges, not {shown!r}")
        passes = self._filter(request)
        await self.history.fresh()
        latest = (each if passes(each) else None for each in self.history.latest())
        return json_text_response(await listed(latest, int(wanted), self.history.context))

    async def stream(self, request: Request) -> Response:
        """Those to come, as server-sent events."""
        stream = events(self.history, self._filter(request))
        try:
            await anext(stream)  # follows from here on
        except TooMany as problem:
            raise HTTPException(503, str(problem)) from None
        headers = {"Cache-Control": "no-store"}
        return StreamingResponse(stream, 200, headers, "text/event-stream")

    def _filter(self, request: Request) -> Filter:
        return read_filter(request, self.topics)

    async def metrics(self, _: Request) -> Response:
        """For Prometheus."""
        await self.history.fresh()
        return Response(
            exposition(await self.target.report(), self.history, self.dropped_spans()),
            headers={"Content-Type": CONTENT_TYPE_LATEST},
        )


@dataclass(frozen=True, slots=True)
class Process:
    """The endpoints of its process."""

    target: Target
    stop: Callable[[], None]
    unlogged: Callable[[int], int]

    async def log(self, request: Request) -> Response:
        """For who reads `--log json`: how many exchanges are over, how many of them the log has lost,
        and what `api`, `error` and `filter` select of its lines."""
        get = request.query_params.get
        try:
            wanted = selection(get("api"), get("error"), get("filter"))
        except ValueError as problem:
            raise HTTPException(400, str(problem)) from None
        over = (await whole_report(self.target)).tally.total
        return json_response({"over": over, "lost": self.unlogged(over), **wanted})

    async def drain(self, _: Request) -> Response:
        """Take no more connections, let what is under way finish, stop."""
        self.stop()
        return json_response({"draining": True}, 202)
