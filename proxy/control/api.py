"""The endpoints of the control port, and what they do to the proxy.

Everything runs in the loop of the process that listens. Where workers carry the connections, the endpoints
ask them.
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
from barnabas.proxy.control.figures import FigureStream
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
"""About the most characters of exchanges in one response: bodies in JSON take many times their bytes. The
oldest exchanges are left out."""

MAX_DIGITS: Final = 18
"""The most digits of a number in a query."""

Endpoint = Callable[[Request], Awaitable[Response]]

DroppedSpans = Callable[[], int | None]
"""Returns the number of spans that the collector did not take; None without OTLP."""


def application(api: Sequence[BaseRoute], files: Iterable[BaseRoute] = ()) -> Starlette:
    """Return the application without its guard: the API under its version, and files next to it."""
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
    """Return all routes of a process that has one proxy.

    `drain` stops the proxy as a signal does. `unlogged` returns how many of so many exchanges the log has
    lost.
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
    """Return the routes of a proxy; `topics` are for filters."""
    control = Control(target, history, topics, dropped_spans)
    connection = "/connections/{number}"
    endpoints: tuple[tuple[str, str, Endpoint], ...] = (
        ("GET", "/status", control.status),
        ("GET", "/connections", control.connections),
        ("POST", f"{connection}/pause", control.pause),
        ("POST", f"{connection}/step", control.step),
        ("POST", f"{connection}/resume", control.resume),
        ("POST", f"{connection}/close", control.close),
        ("GET", "/exchanges", control.exchanges),
        ("GET", "/exchanges/stream", control.stream),
        ("GET", "/metrics", control.metrics),
    )
    connection_routes = [
        Route(path, endpoint, methods=[method]) for method, path, endpoint in endpoints
    ]
    drafts = Drafts(
        history,
        topics,
        lambda: (target.scenario, target.options.faults),
        lambda: target.options.reading,
    )
    steering = [*Rules(target).routes, *Breakpoints(target).routes, *drafts.routes]
    return [*connection_routes, *FigureStream(history).routes, *steering]


async def listed(latest: Iterable[Exchange | None], most: int, context: Context) -> str:
    """Return a JSON array of the latest exchanges, oldest first.

    At most `most` exchanges are listed, and about LISTED characters. `latest` yields them latest first, with
    None for one that is left out.
    """
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


def count_of(request: Request, name: str, default: int) -> int:
    """Return the number of exchanges that a request gives in its query.

    Raises:
        HTTPException: It is not a number.
    """
    text = request.query_params.get(name, str(default))
    if not text.isdecimal() or len(text) > MAX_DIGITS:
        short = shorten(text, MAX_DIGITS)
        raise HTTPException(400, f"{name} is a number of exchanges, not {short!r}")
    return int(text)


async def whole_report(target: Target) -> Report:
    """Return the report of all workers, for a response that cannot name missing workers.

    Raises:
        NoAnswer: A worker does not answer.
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
        """Return the state of the whole proxy."""
        await self.history.fresh()
        target, report = self.target, await self.target.report()
        return json_response(views.status(report, target.options, target.address, self.history))

    # connections

    async def connections(self, _: Request) -> Response:
        """Return the open connections."""
        return json_response((await whole_report(self.target)).connections)

    async def pause(self, request: Request) -> Response:
        """Stop reading from both sides."""
        return await self._connection(request, self.target.pause)

    async def step(self, request: Request) -> Response:
        """Read the next frame of one direction, now or when it arrives."""
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
            short = shorten(text, 20)
            raise HTTPException(
                404, f"no connection {short} is open: GET {PREFIX}/connections lists them"
            ) from None
        except Refused as problem:
            raise HTTPException(409, str(problem)) from None

    # exchanges

    async def exchanges(self, request: Request) -> Response:
        """Return the last exchanges, oldest first: `last=N` of those that pass `filter`.

        `since=N` leaves out the first N of all. With the log off, only exchanges that somebody followed are
        retained.
        """
        last, since = count_of(request, "last", MOST), count_of(request, "since", 0)
        passes = self._filter(request)
        await self.history.fresh()
        latest = (each if passes(each) else None for each in self.history.latest(since))
        return json_text_response(await listed(latest, last, self.history.context))

    async def stream(self, request: Request) -> Response:
        """Send exchanges from now on, as server-sent events."""
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
        """Return the metrics for Prometheus."""
        await self.history.fresh()
        return Response(
            exposition(await self.target.report(), self.history, self.dropped_spans()),
            headers={"Content-Type": CONTENT_TYPE_LATEST},
        )


@dataclass(frozen=True, slots=True)
class Process:
    """The endpoints of the proxy's process."""

    target: Target
    stop: Callable[[], None]
    unlogged: Callable[[int], int]

    async def log(self, request: Request) -> Response:
        """Return the counts that readers of `--log json` need, and a checked selection of its lines.

        The counts are the exchanges that are over, and those that the log has lost; `api`, `error` and
        `filter` select lines.
        """
        get = request.query_params.get
        try:
            columns = selection(get("api"), get("error"), get("filter"))
        except ValueError as problem:
            raise HTTPException(400, str(problem)) from None
        over = (await whole_report(self.target)).tally.total
        return json_response({"over": over, "lost": self.unlogged(over), **columns})

    async def drain(self, _: Request) -> Response:
        """Refuse further connections, let exchanges under way finish, and stop."""
        self.stop()
        return json_response({"draining": True}, 202)
