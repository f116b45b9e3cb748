"""The page's exchanges: numbers of those that match as they come, rows of those in sight, one with all."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from barnabas.captures.kafka.columns import COLUMNS
from barnabas.captures.kafka.filters import Filter
from barnabas.captures.values.value import Values
from barnabas.page.detail import detail, row
from barnabas.page.fields import body_fields
from barnabas.proxy.control.bodies import json_response, read_filter
from barnabas.proxy.control.history import History
from barnabas.specs.json_text import compact

ROWS: Final = 500
"""Rows in one answer at most."""

DIGITS: Final = 18
"""Of a number in a query."""

EVERY: Final = 0.25
"""Seconds between two lines of a stream that has caught up."""

LOOKS: Final = 1_000
"""Exchanges that a filter is asked about at a time."""

BEHIND: Final = 5_000
"""Of those that come while the stream runs: if more wait for the filter, it skips to the last LOOKS."""

ALIVE: Final = 15.0
"""Seconds after which a stream says that nothing has happened."""

STREAMS: Final = 8
"""Streams at a time."""


@dataclass(slots=True)
class Exchanges:
    """The endpoints. source: what the page is to know of where the exchanges are from. trouble: why no more
    come, if that is not the end, and what could not be read."""

    history: History
    topics: Mapping[uuid.UUID, str]
    source: Mapping[str, Any]
    trouble: Callable[[], str] = str
    reading: Values = field(default_factory=Values)
    """How keys and values of records are read."""
    streams: int = 0

    @property
    def routes(self) -> list[Route]:
        """Which request each one answers."""
        return [
            Route("/source", self.about),
            Route("/columns", self.columns),
            Route("/exchanges/follow", self.follow),
            Route("/exchanges/rows", self.rows),
            Route("/exchanges/{number}", self.exchange),
        ]

    async def about(self, _: Request) -> Response:
        """Where the exchanges are from."""
        return json_response({**self.source, **self._state()})

    async def columns(self, _: Request) -> Response:
        """What a filter can name: columns, and fields of bodies."""
        return await self._made(
            lambda: [
                *({"name": one.name, "about": one.description} for one in COLUMNS),
                *({"name": name, "about": about} for name, about in body_fields().items()),
            ]
        )

    async def follow(self, request: Request) -> Response:
        """Those behind `after` that pass `filter`, as lines of JSON: runs of their numbers, from and to, as
        long as there are more to come."""
        if self.streams >= STREAMS:
            raise HTTPException(503, f"{STREAMS} streams are open already: close a page")
        passes = read_filter(request, self.topics) if request.query_params.get("filter") else None
        after = request.query_params.get("after", "-1")
        lines = self._lines(-1 if after == "-1" else _number(after, "after"), passes)
        return StreamingResponse(lines, media_type="application/jsonl")

    async def _lines(self, after: int, passes: Filter | None) -> AsyncIterator[str]:
        self.streams += 1
        history, caught_up, said = self.history, False, 0.0
        try:
            while True:
                state, skipped = self._state(), 0
                if caught_up and passes is not None and history.count - after > BEHIND:
                    skipped = history.count - LOOKS - after - 1
                    after += skipped
                if passes is None:
                    found = [(max(after + 1, state["first"]), state["end"] - 1)]
                    after = state["end"] - 1
                else:
                    found, after = await self._passing(after, passes)
                runs = [run for run in found if run[0] <= run[1]]
                caught_up = after + 1 >= history.count
                if runs or skipped or not said or time.monotonic() - said > ALIVE or caught_up:
                    said = time.monotonic()
                    yield f"{compact({'runs': runs, 'after': after, 'skipped': skipped, **state})}\n"
                if caught_up:
                    if state["over"]:
                        return
                    await self._more(after)
        finally:
            self.streams -= 1

    async def _passing(self, after: int, passes: Filter) -> tuple[list[tuple[int, int]], int]:
        some = self.history.following(after, LOOKS)
        gone = threading.Event()  # the reader: the thread would go on, and a stop wait for it
        try:
            numbers = await asyncio.to_thread(
                lambda: [n for n, each in some if not gone.is_set() and passes(each)]
            )
        finally:
            gone.set()
        return runs_of(numbers), some[-1][0] if some else self.history.count - 1

    async def _more(self, after: int) -> None:
        """Until something has come, or it is time to say that the stream is alive; and EVERY at least."""
        until = time.monotonic() + ALIVE
        while True:
            await asyncio.sleep(EVERY)
            history = self.history
            if history.count > after + 1 or history.over or time.monotonic() > until:
                return

    async def rows(self, request: Request) -> Response:
        """The rows with these `numbers`, as far as they are held."""
        numbers = [
            _number(text, "numbers") for text in request.query_params.get("numbers", "").split(",")
        ]
        if len(numbers) > ROWS:
            raise HTTPException(400, f"numbers are at most {ROWS}")
        held = [(n, each) for n in numbers if (each := self.history.get(n)) is not None]
        context = self.history.context
        return await self._made(lambda: [row(n, each, context) for n, each in held])

    async def exchange(self, request: Request) -> Response:
        """One with all there is to it."""
        number = _number(request.path_params["number"], "exchange")
        found = self.history.get(number)
        if found is None:
            raise HTTPException(404, f"exchange {number} is not held (any longer)")
        context, reading = self.history.context, self.reading
        return await self._made(lambda: detail(number, found, context, reading))

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


def runs_of(numbers: list[int]) -> list[tuple[int, int]]:
    """Runs of numbers that follow each other: first and last of each.

    >>> runs_of([1, 2, 3, 7, 9, 10])
    [(1, 3), (7, 7), (9, 10)]
    """
    if not numbers:
        return []
    starts = [numbers[0], *(b for a, b in pairwise(numbers) if b != a + 1)]
    ends = [*(a for a, b in pairwise(numbers) if b != a + 1), numbers[-1]]
    return list(zip(starts, ends, strict=True))


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= DIGITS):
        raise HTTPException(400, f"{what}: give numbers")
    return int(text)
