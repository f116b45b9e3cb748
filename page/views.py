"""The page's computed views: groups, transactions, topics and latencies.

A view gets new exchanges when it is requested.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sized
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any, Final, Protocol

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.bands import Bands
from barnabas.captures.summary.lag_series import LagSeries
from barnabas.captures.summary.lanes import Lanes
from barnabas.captures.summary.latency_view import LatencyView
from barnabas.captures.summary.traffic import Traffic
from barnabas.captures.summary.transactions import Transactions
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.history import History
from barnabas.trouble import Trouble

CHUNK: Final = 200
"""Exchanges that are copied at a time."""

TURN: Final = 0.01
"""Seconds after which other requests have their turn; the exchange that is being added may take longer."""

PATIENCE: Final = 0.25
"""Seconds after which a response has what there is by then, so that a view of a long capture fills."""

ROWS: Final = 2000
"""The most rows of a list in a response."""


class View(Protocol):
    """A computation over exchanges, which gets them in the order in which they end."""

    def add(self, exchange: Exchange) -> None:
        """Add an exchange."""


class FedViews:
    """Views, and the number of the last exchange that they have."""

    def __init__(self, *views: View, clock: Callable[[], float] = time.monotonic) -> None:
        self._views = views
        self._clock = clock
        self.after = -1
        """The number of the last exchange that was added, or is being added."""
        self._missed = 0
        """Exchanges that the history dropped before a request."""
        self._turn = asyncio.Lock()

    async def fresh(self, history: History) -> dict[str, int]:
        """Add new exchanges to the views for at most PATIENCE seconds.

        Exchanges that arrive meanwhile are left for the next call, since there may be no end of them.

        Returns:
            How many exchanges the views have, how many they missed, and how many they do not have yet.
        """
        last, until = history.count - 1, self._clock() + PATIENCE
        async with self._turn:
            while some := history.following(self.after, min(CHUNK, last - self.after)):
                self._missed += some[0][0] - self.after - 1
                turn_ends = self._clock() + TURN
                for self.after, exchange in some:
                    exchange.losses += self._missed  # a copy; checks do not compare across a hole
                    for view in self._views:
                        view.add(exchange)
                    if self._clock() > turn_ends:
                        break
                await asyncio.sleep(0)
                if self._clock() > until:
                    break
        return {
            "fed": self.after + 1 - self._missed,
            "missed": self._missed,
            "waiting": max(0, last - self.after),
        }


@dataclass(slots=True)
class Views:
    """The requests for computed views."""

    history: History
    _groups: tuple[Lanes, Bands, LagSeries] = field(init=False)
    _transactions: Transactions = field(init=False)
    _topics: Traffic = field(init=False)
    _latency: LatencyView = field(init=False)
    _fed: dict[str, FedViews] = field(init=False)

    def __post_init__(self) -> None:
        context = self.history.context
        self._groups = Lanes(), Bands(context), LagSeries(context)
        self._transactions = Transactions(context)
        self._topics, self._latency = Traffic(context), LatencyView(context)
        self._fed = {
            "groups": FedViews(*self._groups),
            "transactions": FedViews(self._transactions),
            "topics": FedViews(self._topics),
            "latency": FedViews(self._latency),
        }

    @property
    def routes(self) -> list[Route]:
        """Return the routes of the requests."""
        return [
            Route("/groups", self.groups),
            Route("/transactions", self.transactions),
            Route("/topics", self.topics),
            Route("/latency", self.latency),
        ]

    async def groups(self, request: Request) -> Response:
        """Return the names of groups, and lanes, bands and lag of `group` or of the latest group."""
        lanes, bands, series = self._groups
        lag = series.lag
        requested = request.query_params.get("group")

        def made() -> dict[str, Any]:
            rows = lanes.rows()
            latest: dict[str, int] = {}
            for row in rows:
                last = int(row["events"][-1]["start"]) if row["events"] else 0
                latest[row["group"]] = max(latest.get(row["group"], 0), last)
            name = requested or max(latest, key=lambda group: latest[group], default=None)
            return {
                "groups": sorted(nlargest(ROWS, latest, key=lambda group: latest[group])),
                "group": name,
                "lanes": of(name, rows),
                "bands": of(name, bands.rows()),
                "lag": of(name, lag.rows()),
                "lag_over_time": series.document(name or ""),
                "forgotten": lanes.forgotten + bands.forgotten + lag.forgotten + _beyond(latest),
            }

        return await self._answer("groups", made)

    async def transactions(self, _: Request) -> Response:
        """Return open transactions, and the last ones that ended."""
        view = self._transactions

        def latest() -> dict[str, Any]:
            rows = view.rows()
            return {"transactions": rows[-ROWS:], "forgotten": view.forgotten + _beyond(rows)}

        return await self._answer("transactions", latest)

    async def topics(self, _: Request) -> Response:
        """Return who produces to each topic and who consumes it, how much and how fast."""
        view = self._topics

        def flows() -> dict[str, Any]:
            rows = view.rows()
            return {"flows": rows[:ROWS], "forgotten": view.forgotten + _beyond(rows)}

        return await self._answer("topics", flows)

    async def latency(self, _: Request) -> Response:
        """Return percentiles by API, client and broker, and heat maps: of clients, and of brokers alone."""
        return await self._answer("latency", self._latency.rows)

    async def _answer(self, name: str, compute: Callable[[], dict[str, Any]]) -> Response:
        try:
            state = await self._fed[name].fresh(self.history)
        except Trouble as trouble:  # of a dialect's group reader
            raise HTTPException(500, str(trouble)) from None
        return json_response({**compute(), **state})


def _beyond(rows: Sized) -> int:
    """Return how many rows a response leaves out."""
    return max(0, len(rows) - ROWS)


def of(group: str | None, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the last rows of a group."""
    return [row for row in rows if row["group"] == group][-ROWS:]
