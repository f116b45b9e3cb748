"""The requests that the control port understands, and what they do to the proxy.

Everything runs in the proxy's own loop, so that a request sees and changes it between two events.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from barnabas.captures.kafka.filters import Filter, exchange_filter
from barnabas.captures.kafka.wording import shorten
from barnabas.proxy.control import views
from barnabas.proxy.control.bodies import (
    error_response,
    json_response,
    json_text_response,
    read_text,
)
from barnabas.proxy.control.editing import with_rule, without_rule
from barnabas.proxy.control.history import MOST, History, TooMany
from barnabas.proxy.control.metrics import exposition
from barnabas.proxy.control.selection import selection
from barnabas.proxy.control.stream import events
from barnabas.proxy.network.relay import Relay
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.scenario.file import Scenario, ScenarioError, loads
from barnabas.specs.frames import Direction
from barnabas.specs.json_text import compact

BY: Final = "the control port"

LISTED: Final = 64 << 20
"""Characters of exchanges in one answer, nearly: bodies in JSON take many times their bytes. The oldest
are left out."""

MAX_DIGITS: Final = 18
"""Of a number in a query."""

Endpoint = Callable[[Request], Awaitable[Response]]


def application(
    proxy: Proxy, history: History, drain: Callable[[], None], unlogged: Callable[[], int]
) -> Starlette:
    """The application, without its guard.

    `drain` makes the proxy stop as a signal does; `unlogged` is how many exchanges the log has lost.
    """
    control = Control(proxy, history, drain, unlogged)
    one = "/connections/{number}"
    routes: tuple[tuple[str, str, Endpoint], ...] = (
        ("GET", "/status", control.status),
        ("GET", "/connections", control.connections),
        ("POST", f"{one}/pause", control.pause),
        ("POST", f"{one}/step", control.step),
        ("POST", f"{one}/resume", control.resume),
        ("POST", f"{one}/close", control.close),
        ("GET", "/exchanges", control.exchanges),
        ("GET", "/exchanges/stream", control.stream),
        ("GET", "/log", control.log),
        ("GET", "/scenario", control.scenario),
        ("PUT", "/scenario", control.set_scenario),
        ("POST", "/scenario/rules", control.add_rule),
        ("DELETE", "/scenario/rules/{name:path}", control.remove_rule),
        ("POST", "/scenario/rules/{name:path}/fire", control.fire_rule),
        ("POST", "/scenario/rules/{name:path}/release", control.release_rule),
        ("POST", "/drain", control.drain),
        ("GET", "/metrics", control.metrics),
    )
    return Starlette(
        routes=[Route(path, endpoint, methods=[method]) for method, path, endpoint in routes],
        exception_handlers={HTTPException: error_response},
    )


@dataclass(frozen=True, slots=True)
class Control:
    """The endpoints."""

    proxy: Proxy
    history: History
    stop: Callable[[], None]
    unlogged: Callable[[], int]

    async def status(self, _: Request) -> Response:
        """The proxy as a whole."""
        return json_response(views.status(self.proxy, self.history))

    # connections

    async def connections(self, _: Request) -> Response:
        """Those that are open."""
        return json_response([views.connection(relay) for relay in self.proxy.relays.values()])

    async def pause(self, request: Request) -> Response:
        """Read from neither side."""
        relay = self._relay(request)
        relay.pause()
        return json_response(views.connection(relay))

    async def step(self, request: Request) -> Response:
        """Read the next frame of one direction, now or when it comes."""
        direction: Direction
        match request.query_params.get("direction", "request"):
            case "request":
                direction = "request"
            case "response":
                direction = "response"
            case other:
                raise HTTPException(400, f"direction is request or response, not {other!r}")
        relay = self._relay(request)
        if not relay.paused:
            number = relay.connection.state.number
            raise HTTPException(409, f"connection {number} is not paused: pause it first")
        relay.step(direction)
        return json_response(views.connection(relay))

    async def resume(self, request: Request) -> Response:
        """Read from both sides again."""
        relay = self._relay(request)
        relay.resume()
        return json_response(views.connection(relay))

    async def close(self, request: Request) -> Response:
        """Close both sides."""
        relay = self._relay(request)
        found = views.connection(relay)
        relay.close()
        return json_response(found)

    def _relay(self, request: Request) -> Relay:
        number = request.path_params["number"]
        for known, relay in self.proxy.relays.items():
            if str(known) == number:
                return relay
        shown = shorten(number, 20)
        raise HTTPException(404, f"no connection {shown} is open: GET /connections lists them")

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
        rows: deque[str] = deque()
        size = 0
        for exchange in self.history.latest():
            if len(rows) >= int(wanted) or size > LISTED:
                break
            if passes(exchange):
                rows.appendleft(compact(views.exchange(exchange, self.history.context)))
                size += len(rows[0])
            await asyncio.sleep(0)  # bodies take their time, and traffic has its turn
        return json_text_response(f"[{','.join(rows)}]")

    async def stream(self, request: Request) -> Response:
        """Those to come, as server-sent events."""
        stream = events(self.history, self._filter(request))
        try:
            await anext(stream)  # follows from here on
        except TooMany as problem:
            raise HTTPException(503, str(problem)) from None
        headers = {"Cache-Control": "no-store"}
        return StreamingResponse(stream, 200, headers, "text/event-stream")

    async def log(self, request: Request) -> Response:
        """For who reads `--log json`: how many exchanges are over, how many of them the log has lost,
        and what `api`, `error` and `filter` select of its lines."""
        get = request.query_params.get
        try:
            wanted = selection(get("api"), get("error"), get("filter"))
        except ValueError as problem:
            raise HTTPException(400, str(problem)) from None
        return json_response({"over": self.history.count, "lost": self.unlogged(), **wanted})

    def _filter(self, request: Request) -> Filter:
        text = request.query_params.get("filter")
        if text is None:
            return lambda _: True
        try:
            return exchange_filter(text, self.proxy.shared.topics)
        except ValueError as problem:
            raise HTTPException(400, f"filter: {problem}") from None

    # the scenario

    async def scenario(self, _: Request) -> Response:
        """Its text, and what its rules have done."""
        return json_response(views.scenario(self.proxy.rules))

    async def set_scenario(self, request: Request) -> Response:
        """Another one (YAML), for all connections at once."""
        text = await read_text(request)
        return await self._edit(lambda _: text)

    async def add_rule(self, request: Request) -> Response:
        """One more rule (YAML), asked last."""
        rule = await read_text(request)
        return await self._edit(lambda text: with_rule(text, rule, self.proxy.options.faults))

    async def remove_rule(self, request: Request) -> Response:
        """A rule less; what it holds back leaves."""
        name = request.path_params["name"]
        try:
            return await self._edit(lambda text: without_rule(text, name))
        except LookupError:
            raise self._no_rule(name) from None

    async def fire_rule(self, request: Request) -> Response:
        """Let a rule fire on its next match whatever `when` says."""
        return self._tell(request, self.proxy.fire)

    async def release_rule(self, request: Request) -> Response:
        """Let what a rule holds leave, whatever it waits for."""
        return self._tell(request, self.proxy.release)

    def _tell(self, request: Request, command: Callable[[str], None]) -> Response:
        name = request.path_params["name"]
        try:
            command(name)
        except LookupError:
            raise self._no_rule(name) from None
        return json_response(views.rule(self.proxy.rules.rule(name)))

    async def _edit(self, edit: Callable[[str], str]) -> Response:
        """Put what `edit` makes of the scenario's text in its place; a wrong one changes nothing.

        In a thread, since YAML takes its time; begun anew if the scenario changed meanwhile.
        """

        def edited(text: str) -> Scenario:
            return loads(edit(text), faults=self.proxy.options.faults)

        while True:
            rules = self.proxy.rules
            try:
                scenario = await asyncio.to_thread(edited, views.text(rules))
            except ScenarioError as problem:
                raise HTTPException(422, "; ".join(problem.problems)) from None
            if self.proxy.rules is rules:
                break
        self.proxy.replace(scenario, BY)
        return json_response(views.scenario(self.proxy.rules))

    def _no_rule(self, name: str) -> HTTPException:
        names = ", ".join(repr(rule.name) for rule in self.proxy.rules.rules) or "none"
        return HTTPException(404, f"no rule is called {name!r}; the rules are: {names}")

    # the proxy

    async def drain(self, _: Request) -> Response:
        """Take no more connections, let what is under way finish, stop."""
        self.stop()
        return json_response({"draining": True}, 202)

    async def metrics(self, _: Request) -> Response:
        """For Prometheus."""
        return Response(
            exposition(self.proxy, self.history), headers={"Content-Type": CONTENT_TYPE_LATEST}
        )
