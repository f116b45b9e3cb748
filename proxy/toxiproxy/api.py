"""The HTTP API of Shopify's toxiproxy 2.12: https://github.com/Shopify/toxiproxy#http-api."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.proxy.toxiproxy.errors import ApiError
from barnabas.proxy.toxiproxy.metrics import exposition
from barnabas.proxy.toxiproxy.store import Store

VERSION: Final = "2.12.0"
"""The version of toxiproxy's API."""

LONGEST: Final = 10 << 20
"""The most bytes of a body."""

Endpoint = Callable[[dict[str, str], bytes], Awaitable[Response]]
"""A function of the names in the path and the body, which returns the response."""


def application(store: Store) -> Starlette:
    """Return the application without its guard."""
    app = Starlette(routes=Api(store).routes, exception_handlers={HTTPException: _unknown})
    app.router.redirect_slashes = False
    return app


@dataclass(frozen=True, slots=True)
class Api:
    """The endpoints of toxiproxy's API."""

    store: Store
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """Serializes requests: what a request reads of a proxy must hold until it has changed it."""

    @property
    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        endpoints: tuple[tuple[str, tuple[str, ...], Endpoint], ...] = (
            ("/reset", ("POST",), self.reset),
            ("/proxies", ("GET",), self.proxies),
            ("/proxies", ("POST",), self.create),
            ("/populate", ("POST",), self.populate),
            ("/proxies/{proxy}", ("GET",), self.show),
            ("/proxies/{proxy}", ("POST", "PATCH"), self.update),
            ("/proxies/{proxy}", ("DELETE",), self.delete),
            ("/proxies/{proxy}/toxics", ("GET",), self.toxics),
            ("/proxies/{proxy}/toxics", ("POST",), self.add_toxic),
            ("/proxies/{proxy}/toxics/{toxic}", ("GET",), self.show_toxic),
            ("/proxies/{proxy}/toxics/{toxic}", ("POST", "PATCH"), self.update_toxic),
            ("/proxies/{proxy}/toxics/{toxic}", ("DELETE",), self.remove_toxic),
            ("/version", ("GET",), self.version),
            ("/metrics", ("GET",), self.metrics),
        )
        routes = [Route(path, self._answers(to), methods=list(m)) for path, m, to in endpoints]
        for route in routes:
            assert route.methods is not None  # noqa: S101
            route.methods.discard("HEAD")
        return routes

    def _answers(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint with checks: no browsers, errors in JSON, a number in each response."""

        async def answer(request: Request) -> Response:
            if request.headers.get("user-agent", "").startswith("Mozilla/"):
                response = _text("User agent not allowed\n", 403)
            else:
                try:
                    body = await _body(request)
                    async with self._turn:
                        response = await endpoint(request.path_params, body)
                except ApiError as problem:
                    error = {"error": problem.message, "status": problem.status}
                    response = _text(orjson.dumps(error) + b"\n", problem.status)
            response.headers["X-Toxiproxy-Request-Id"] = secrets.token_hex(10)
            return response

        return answer

    # proxies

    async def proxies(self, _: dict[str, str], __: bytes) -> Response:
        """Return all proxies, by name."""
        proxies = self.store.proxies
        return _json({name: proxies[name].shown() for name in sorted(proxies)})

    async def create(self, names: dict[str, str], body: bytes) -> Response:
        """Create a proxy."""
        return _json((await self.store.create(body)).shown(), 201)

    async def populate(self, names: dict[str, str], body: bytes) -> Response:
        """Create or replace several proxies."""
        done, problem = await self.store.populate(body)
        error = {} if problem is None else {"error": problem.message, "status": problem.status}
        proxies = [proxy.shown() for proxy in done] or None
        return _json({**error, "proxies": proxies}, 201 if problem is None else problem.status)

    async def show(self, names: dict[str, str], body: bytes) -> Response:
        """Return a proxy."""
        return _json(self.store.proxy(names["proxy"]).shown())

    async def update(self, names: dict[str, str], body: bytes) -> Response:
        """Change the settings of a proxy."""
        return _json((await self.store.update(names["proxy"], body)).shown())

    async def delete(self, names: dict[str, str], body: bytes) -> Response:
        """Delete a proxy."""
        await self.store.remove(names["proxy"])
        return Response(status_code=204)

    async def reset(self, _: dict[str, str], __: bytes) -> Response:
        """Enable all proxies and remove their toxics."""
        await self.store.reset()
        return Response(status_code=204)

    # toxics

    async def toxics(self, names: dict[str, str], body: bytes) -> Response:
        """Return the toxics of the proxy named in the URL."""
        proxy = self.store.proxy(names["proxy"])
        return _json([toxic.shown() for toxic in proxy.toxics])

    async def add_toxic(self, names: dict[str, str], body: bytes) -> Response:
        """Add a toxic to a proxy."""
        proxy = self.store.proxy(names["proxy"])
        return _json(proxy.add(body).shown())

    async def show_toxic(self, names: dict[str, str], body: bytes) -> Response:
        """Return a toxic."""
        proxy = self.store.proxy(names["proxy"])
        return _json(proxy.toxic(names["toxic"]).shown())

    async def update_toxic(self, names: dict[str, str], body: bytes) -> Response:
        """Change the attributes of a toxic."""
        proxy = self.store.proxy(names["proxy"])
        return _json(proxy.change(names["toxic"], body).shown())

    async def remove_toxic(self, names: dict[str, str], body: bytes) -> Response:
        """Remove a toxic."""
        self.store.proxy(names["proxy"]).remove(names["toxic"])
        return Response(status_code=204)

    # the rest

    async def version(self, _: dict[str, str], __: bytes) -> Response:
        """Return the version of toxiproxy that has this API."""
        text = f'{{"version": "{VERSION}"}}\n'
        return Response(text, headers={"content-type": "application/json;charset=utf-8"})

    async def metrics(self, _: dict[str, str], __: bytes) -> Response:
        """Return the bytes of each proxy, for Prometheus."""
        return Response(exposition(self.store), headers={"content-type": CONTENT_TYPE_LATEST})


async def _body(request: Request) -> bytes:
    """Return a request's body.

    Raises ApiError if it is too long or incomplete.
    """
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LONGEST:
                raise ApiError(f"the body is longer than {LONGEST >> 20} MiB", 413)
    except ClientDisconnect:
        raise ApiError("the body is not complete", 400) from None
    return bytes(body)


def _json(value: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, {"content-type": "application/json"})


def _text(text: str | bytes, status: int) -> Response:
    """Return a text as Go's http.Error does."""
    headers = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}
    return Response(text, status, headers)


async def _unknown(_: Request, problem: Exception) -> Response:
    """Answer a request with an unknown path or method."""
    assert isinstance(problem, HTTPException)  # noqa: S101 - what it is registered for
    if problem.status_code == 404:
        return _text("404 page not found\n", 404)
    return Response(status_code=problem.status_code)
