"""What the page's other views show. Each is fed when somebody asks for it, with what came since."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.bands import Bands
from barnabas.captures.summary.heat_map import LatencyView
from barnabas.captures.summary.lag import Lag
from barnabas.captures.summary.lanes import Lanes
from barnabas.captures.summary.traffic import Traffic
from barnabas.captures.summary.transactions import Transactions
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.history import History
from barnabas.trouble import Trouble

CHUNK: Final = 200
"""Exchanges that are fed at a time; others have their turn in between."""

ROWS: Final = 2000
"""Rows of a list in an answer at most: the first ones."""


class View(Protocol):
    """Takes exchanges in the order in which they end."""

    def add(self, exchange: Exchange) -> None:
        """Take one."""


class Fed:
    """Views, and which exchanges they have had."""

    def __init__(self, *views: View) -> None:
        self._views = views
        self._after = -1
        self._missed = 0
        """Exchanges that fell out before somebody asked."""
        self._turn = asyncio.Lock()

    async def fresh(self, history: History) -> dict[str, int]:
        """Feed them what came since; how many they have had, and missed.

        What comes meanwhile has to wait for the next time: there may be no end to it.
        """
        last = history.count - 1
        async with self._turn:
            while some := history.following(self._after, min(CHUNK, last - self._after)):
                self._missed += some[0][0] - self._after - 1
                self._after = some[-1][0]
                for _, exchange in some:
                    for view in self._views:
                        view.add(exchange)
                await asyncio.sleep(0)
        return {"fed": self._after + 1 - self._missed, "missed": self._missed}


@dataclass(slots=True)
class Views:
    """The endpoints."""

    history: History
    _groups: tuple[Lanes, Bands, Lag] = field(init=False)
    _transactions: Transactions = field(init=False)
    _topics: Traffic = field(init=False)
    _latency: LatencyView = field(init=False)
    _fed: dict[str, Fed] = field(init=False)

    def __post_init__(self) -> None:
        context = self.history.context
        self._groups = Lanes(), Bands(context), Lag(context)
        self._transactions = Transactions(context)
        self._topics, self._latency = Traffic(context), LatencyView()
        self._fed = {
            "groups": Fed(*self._groups),
            "transactions": Fed(self._transactions),
            "topics": Fed(self._topics),
            "latency": Fed(self._latency),
        }

    @property
    def routes(self) -> list[Route]:
        """Which request each one answers."""
        return [
            Route("/groups", self.groups),
            Route("/transactions", self.transactions),
            Route("/topics", self.topics),
            Route("/latency", self.latency),
        ]

    async def groups(self, request: Request) -> Response:
        """Names of groups; lanes, bands and lag of the one that is named, or else of the latest."""
        lanes, bands, lag = self._groups
        wanted = request.query_params.get("group")

        def made() -> dict[str, Any]:
            rows = lanes.rows()
            latest: dict[str, int] = {}
            for row in rows:
                last = int(row["events"][-1]["start"]) if row["events"] else 0
                latest[row["group"]] = max(latest.get(row["group"], 0), last)
            name = wanted or max(latest, key=lambda group: latest[group], default=None)
            return {
                "groups": sorted(latest)[:ROWS],
                "group": name,
                "lanes": of(name, rows),
                "bands": of(name, bands.rows()),
                "lag": of(name, lag.rows()),
                "forgotten": lanes.forgotten + bands.forgotten + lag.forgotten,
            }

        return await self._answer("groups", made)

    async def transactions(self, _: Request) -> Response:
        """Those that are open, and the last ones that are over."""
        view = self._transactions
        return await self._answer(
            "transactions",
            lambda: {"transactions": view.rows()[-ROWS:], "forgotten": view.forgotten},
        )

    async def topics(self, _: Request) -> Response:
        """Who writes to a topic, and who reads it, how much and how fast."""
        view = self._topics
        return await self._answer(
            "topics", lambda: {"flows": view.rows()[:ROWS], "forgotten": view.forgotten}
        )

    async def latency(self, _: Request) -> Response:
        """Percentiles by API and heat maps, of what clients saw and of the brokers alone."""
        return await self._answer("latency", self._latency.rows)

    async def _answer(self, name: str, made: Callable[[], dict[str, Any]]) -> Response:
        try:
            state = await self._fed[name].fresh(self.history)
        except Trouble as trouble:  # of a dialect's group reader
            raise HTTPException(500, str(trouble)) from None
        return json_response({**made(), **state})


def of(group: str | None, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a group, the last ones."""
    return [row for row in rows if row["group"] == group][-ROWS:]
