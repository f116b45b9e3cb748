"""A worker that does not answer: each request is refused for it, or its answer names the worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from barnabas.page.openapi import document
from barnabas.proxy.control.api import application, routes
from barnabas.proxy.control.history import History
from barnabas.proxy.control.omissions import NoAnswer
from barnabas.proxy.control.server import serve
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.report import Report
from barnabas.proxy.rules.outcome import outcome
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import Scenario, loads
from tests.proxy.control.desk import Desk

RULE = "{name: r, match: {api: Fetch}, do: close}"

REFUSED = {
    "GET /connections", "POST /connections/{number}/pause", "POST /connections/{number}/step",
    "POST /connections/{number}/resume", "POST /connections/{number}/close", "GET /breakpoints",
    "GET /breakpoints/{id}", "POST /breakpoints/{id}", "GET /log",
}  # fmt: skip
NAMED = {
    "GET /status", "GET /scenario", "PUT /scenario", "POST /scenario/rules", "DELETE /scenario/rules/{name}",
    "POST /scenario/rules/{name}/fire", "POST /scenario/rules/{name}/release", "GET /metrics",
}  # fmt: skip
WITHOUT_WORKERS = {
    "GET /exchanges", "GET /exchanges/stream", "GET /figures/stream", "GET /scenario/schema",
    "POST /scenario/check", "POST /scenario/try", "POST /scenario/draft", "POST /drain",
}  # fmt: skip
"""What the process does that listens, with what it has."""


class Silent:
    """A `Target` of two workers, of which the second does not answer."""

    options = Options([("127.0.0.1", 1)])
    address = ("127.0.0.1", 2)

    def __init__(self) -> None:
        self.scenario: Scenario = loads(f"version: 1\nrules: [{RULE}]")

    async def report(self) -> Report:
        return Report(rules=tuple(map(outcome, Rules(self.scenario).rules)), missing=(2,))

    async def replace(self, scenario: Scenario, by: str) -> None:
        self.scenario = scenario

    async def fire(self, rule: str) -> None:
        pass

    release = fire

    async def waiting(self) -> Any:
        raise NoAnswer([2])

    async def message(self, *_: Any) -> Any:
        raise NoAnswer([2])

    decide = pause = step = resume = close = message


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Desk, set[str]]]:
    """Serve the control port of a target with silent workers; yield a client and all requests."""
    history = History()
    every = routes(Silent(), history, {}, lambda: None, lambda _: 0)
    serving = await serve(application(every), ("127.0.0.1", 0), "token")
    known = {
        f"{method.upper()} {path}"
        for path, methods in document(every)["paths"].items()
        for method in methods
    }
    try:
        yield Desk(cast(Any, None), history, serving, "token", []), known
    finally:
        history.close()
        await asyncio.wait_for(serving.stop(), 60)


async def test_all_requests_are_one_of_these() -> None:
    async with served() as (_, known):
        assert known == REFUSED | NAMED | WITHOUT_WORKERS


@pytest.mark.parametrize("name", sorted(REFUSED))
async def test_what_would_be_wrong_without_the_worker_is_refused(name: str) -> None:
    method, path = name.split()
    async with served() as (it, _):
        answer = await it.ask(method, path.format(number=1, id="1.1"))
        assert answer.status == 503
        assert "worker 2 does not answer" in answer.json["error"]


@pytest.mark.parametrize("name", sorted(NAMED))
async def test_what_is_done_or_counted_all_the_same_names_the_worker(name: str) -> None:
    body = {"PUT": f"version: 1\nrules: [{RULE}]", "POST": RULE.replace("name: r", "name: s")}
    method, path = name.split()
    async with served() as (it, _):
        answer = await it.ask(method, path.format(name="r"), body.get(method, "").encode())
        assert answer.status == 200, answer.body
        if path == "/metrics":
            assert b"\nbarnabas_missing_workers 1.0\n" in answer.body
        else:
            assert answer.json["missing_workers"] == [2]
