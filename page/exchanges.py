"""The page's list of exchanges.

It serves the numbers of exchanges that match a filter, the rows of visible ones, and one with all its values.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from barnabas.captures.kafka.columns import COLUMNS, SUMMARY
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import Filter
from barnabas.captures.values.value import Values
from barnabas.nearest import did_you_mean
from barnabas.page.detail import detail, row
from barnabas.page.fields import body_fields
from barnabas.page.query import PLAIN, query
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.history import History
from barnabas.specs.json_text import compact

ROWS: Final = 500
"""The most rows in a response."""

VALUES: Final = 50
"""The most values of a column in a response."""

COUNTED: Final = 10_000
"""The most values of a column that are told apart."""

MEASURED: Final = frozenset(
    ("ts", "latency_ms", "broker_ms", "request_size", "response_size", "correlation_id")
)
"""Columns that differ from exchange to exchange, so that there is no value to complete."""

DIGITS: Final = 18
"""The most digits of a number in a query."""

PAUSE: Final = 0.25
"""Seconds between two lines of a stream that has caught up."""

CHUNK: Final = 1_000
"""Exchanges that are filtered at a time."""

MOST_WAITING: Final = 5_000
"""If more new exchanges than this wait for the filter, the stream skips to the last CHUNK."""

ALIVE: Final = 15.0
"""Seconds without news after which a stream sends a line as a sign of life."""

STREAMS: Final = 8
"""The most streams at a time."""


@dataclass(slots=True)
class Exchanges:
    """The requests for exchanges.

    source: Describes where the exchanges are from. trouble: Returns why no more exchanges arrive, other than
    the end of the capture, and what could not be read.
    """

    history: History
    source: Mapping[str, Any]
    trouble: Callable[[], str] = str
    reading: Values = field(default_factory=Values)
    """Decodes keys and values of records."""
    streams: int = 0

    @property
    def routes(self) -> list[Route]:
        """Return the routes of the requests."""
        return [
            Route("/source", self.about),
            Route("/columns", self.columns),
            Route("/values", self.values),
            Route("/exchanges/follow", self.follow),
            Route("/exchanges/rows", self.rows),
            Route("/exchanges/order", self.order),
            Route("/exchanges/{number}", self.exchange),
        ]

    async def about(self, _: Request) -> Response:
        """Return where the exchanges are from, and which filters are plain text."""
        return json_response({**self.source, "plain": PLAIN, **self._state()})

    async def columns(self, _: Request) -> Response:
        """Return the names that a filter may use: columns, and fields of bodies."""
        return await self._made(
            lambda: [
                *({"name": column.name, "about": column.description} for column in COLUMNS),
                *({"name": name, "about": api_names} for name, api_names in body_fields().items()),
            ]
        )

    async def values(self, request: Request) -> Response:
        """Return the most frequent values of a `column` (by default `api`) of the exchanges that are held."""
        name = request.query_params.get("column", "api")
        if name not in SUMMARY:
            raise HTTPException(
                400, f"column: there is no column {name!r}{did_you_mean(name, SUMMARY)}"
            )
        if name in MEASURED:
            raise HTTPException(400, f"column: {name} has no values to complete")
        held = self.history.kept()

        def count() -> list[Any]:
            values: Counter[Any] = Counter()
            for _, exchange in held:
                value = exchange.row((name,))[name]
                for each in value if isinstance(value, list) else [value]:
                    if each in values or len(values) < COUNTED:
                        values[each] += 1
            return [value for value, _ in values.most_common(VALUES) if value not in (None, "")]

        return await self._made(count)

    async def follow(self, request: Request) -> Response:
        """Stream lines of JSON with the numbers of exchanges after `after` that `filter` finds, see `query`.

        The numbers are runs, each a first and a last number. The stream ends when no more exchanges can
        arrive.
        """
        if self.streams >= STREAMS:
            raise HTTPException(503, f"{STREAMS} streams are open already: close a page")
        text = request.query_params.get("filter", "")
        passes = query(text, self.history.context, self.reading) if text else None
        lines = self._lines(after_of(request), passes)
        return StreamingResponse(lines, media_type="application/jsonl")

    async def _lines(self, after: int, passes: Filter | None) -> AsyncIterator[str]:
        self.streams += 1
        history, caught_up, written_at = self.history, False, 0.0
        try:
            while True:
                state, skipped = self._state(), 0
                if caught_up and passes is not None and history.count - after > MOST_WAITING:
                    skipped = history.count - CHUNK - after - 1
                    after += skipped
                if passes is None:
                    ranges = [(max(after + 1, state["first"]), state["end"] - 1)]
                    after = state["end"] - 1
                else:
                    ranges, after = await self._passing(after, passes)
                runs = [run for run in ranges if run[0] <= run[1]]
                caught_up = after + 1 >= history.count
                if (
                    runs
                    or skipped
                    or not written_at
                    or time.monotonic() - written_at > ALIVE
                    or caught_up
                ):
                    written_at = time.monotonic()
                    yield f"{compact({'runs': runs, 'after': after, 'skipped': skipped, **state})}\n"
                if caught_up:
                    if state["over"]:
                        return
                    await self._more(after)
        finally:
            self.streams -= 1

    async def _passing(self, after: int, passes: Filter) -> tuple[list[tuple[int, int]], int]:
        some = self.history.following(after, CHUNK)
        gone = (
            threading.Event()
        )  # ends the thread when the reader is gone, or a stop would wait for it
        try:
            numbers = await asyncio.to_thread(
                lambda: [n for n, each in some if not gone.is_set() and passes(each)]
            )
        finally:
            gone.set()
        return runs_of(numbers), some[-1][0] if some else self.history.count - 1

    async def _more(self, after: int) -> None:
        """Wait until exchanges have arrived or a sign of life is due, but at least PAUSE seconds."""
        until = time.monotonic() + ALIVE
        while True:
            await asyncio.sleep(PAUSE)
            history = self.history
            if history.count > after + 1 or history.over or time.monotonic() > until:
                return

    async def rows(self, request: Request) -> Response:
        """Return the rows of the exchanges with these `numbers` that are still held."""
        numbers = [
            number_of(text, "numbers")
            for text in request.query_params.get("numbers", "").split(",")
        ]
        if len(numbers) > ROWS:
            raise HTTPException(400, f"numbers are at most {ROWS}")
        held = [(n, each) for n in numbers if (each := self.history.get(n)) is not None]
        context = self.history.context
        return await self._made(lambda: [row(n, each, context) for n, each in held])

    async def order(self, request: Request) -> Response:
        """Return the numbers of the exchanges that `filter` finds, in the `order` of a column.

        A column with "-" before it: the largest first. Exchanges without a value are last.
        """
        column = request.query_params.get("order", "ts")
        descending, name = column.startswith("-"), column.removeprefix("-")
        if name not in SUMMARY:
            raise HTTPException(
                400, f"order: there is no column {name!r}{did_you_mean(name, SUMMARY)}"
            )
        passes = query(request.query_params.get("filter", ""), self.history.context, self.reading)

        def valued(some: list[tuple[int, Exchange]]) -> list[tuple[Any, int]]:
            return [(each.row((name,))[name], number) for number, each in some if passes(each)]

        values: list[tuple[Any, int]] = []
        after = -1
        while some := self.history.following(after, CHUNK):
            after = some[-1][0]
            values += await asyncio.to_thread(valued, some)
        return await self._made(lambda: _ordered(values, descending=descending))

    async def exchange(self, request: Request) -> Response:
        """Return an exchange with all its values."""
        number = number_of(request.path_params["number"], "exchange")
        exchange = self.history.get(number)
        if exchange is None:
            raise missing(number, self.history)
        context, reading = self.history.context, self.reading
        return await self._made(lambda: detail(number, exchange, context, reading))

    async def _made(self, make: Callable[[], Any]) -> Response:
        return await asyncio.to_thread(lambda: json_response(make()))

    def _state(self) -> dict[str, Any]:
        history = self.history
        return {
            "first": history.first,
            "end": history.count,
            "over": history.over,
            "trouble": self.trouble(),
        }


def _ordered(values: list[tuple[Any, int]], *, descending: bool) -> list[int]:
    """Return numbers in the order of their values.

    >>> _ordered([(2.0, 7), (None, 8), (1.5, 9)], descending=True)
    [7, 9, 8]
    """
    valued = sorted(
        (each for each in values if each[0] not in (None, "", [])),
        key=lambda each: each[0],
        reverse=descending,
    )
    missing = [number for value, number in values if value in (None, "", [])]
    return [*(number for _, number in valued), *missing]


def runs_of(numbers: list[int]) -> list[tuple[int, int]]:
    """Return the first and the last number of each run of consecutive numbers.

    >>> runs_of([1, 2, 3, 7, 9, 10])
    [(1, 3), (7, 7), (9, 10)]
    """
    if not numbers:
        return []
    starts = [numbers[0], *(b for a, b in pairwise(numbers) if b != a + 1)]
    ends = [*(a for a, b in pairwise(numbers) if b != a + 1), numbers[-1]]
    return list(zip(starts, ends, strict=True))


def after_of(request: Request) -> int:
    """Return the number after which a request asks for exchanges; -1: it asks for all."""
    text = request.query_params.get("after", "-1")
    return -1 if text == "-1" else number_of(text, "after")


def missing(number: int, history: History) -> HTTPException:
    """Return the error for an exchange that is not held."""
    if number >= history.count > 0:
        return HTTPException(404, f"there is no exchange {number}: the last is {history.count - 1}")
    return HTTPException(404, f"exchange {number} is not kept (any more)")


def number_of(text: str, name: str) -> int:
    """Return the number that a request gives; errors call it by `name`. Raises HTTPException."""
    if not (text.isascii() and text.isdecimal() and len(text) <= DIGITS):
        raise HTTPException(400, f"{name}: give numbers")
    return int(text)
