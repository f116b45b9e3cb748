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
"""Of the API."""

LONGEST: Final = 10 << 20
"""Bytes of a body."""

Endpoint = Callable[[dict[str, str], bytes], Awaitable[Response]]
"""What answers: the names in the path, and the body."""


def application(store: Store) -> Starlette:
    """The application, without its guard."""
    found = Starlette(routes=Api(store).routes, exception_handlers={HTTPException: _unknown})
    found.router.redirect_slashes = False
    return found


@dataclass(frozen=True, slots=True)
class Api:
    """The endpoints."""

    store: Store
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """One request at a time: what it reads of a proxy must hold until it has changed it."""

    @property
    def routes(self) -> list[Route]:
        """Which request each one answers."""
        known: tuple[tuple[str, tuple[str, ...], Endpoint], ...] = (
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
        found = [Route(path, self._answers(to), methods=list(m)) for path, m, to in known]
        for route in found:
            assert route.methods is not None  # noqa: S101
            route.methods.discard("HEAD")
        return found

    def _answers(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint as requests meet it: no browsers, errors in JSON, each answer with a number."""

        async def answer(request: Request) -> Response:
            if request.headers.get("user-agent", "").startswith("Mozilla/"):
                response = _text("User agent not allowed\n", 403)
            else:
                try:
                    body = await _body(request)
                    async with self._turn:
                        response = await endpoint(request.path_params, body)
                except ApiError as problem:
                    said = {"error": problem.message, "status": problem.status}
                    response = _text(orjson.dumps(said) + b"\n", problem.status)
            response.headers["X-Toxiproxy-Request-Id"] = secrets.token_hex(10)
            return response

        return answer

    # proxies

    async def proxies(self, _: dict[str, str], __: bytes) -> Response:
        """All of them, by name."""
        found = self.store.proxies
        return _json({name: found[name].shown() for name in sorted(found)})

    async def create(self, names: dict[str, str], body: bytes) -> Response:
        """Another one."""
        return _json((await self.store.create(body)).shown(), 201)

    async def populate(self, names: dict[str, str], body: bytes) -> Response:
        """Several."""
        done, problem = await self.store.populate(body)
        said = {} if problem is None else {"error": problem.message, "status": problem.status}
        shown = [proxy.shown() for proxy in done] or None
        return _json({**said, "proxies": shown}, 201 if problem is None else problem.status)

    async def show(self, names: dict[str, str], body: bytes) -> Response:
        """One of them."""
        return _json(self.store.proxy(names["proxy"]).shown())

    async def update(self, names: dict[str, str], body: bytes) -> Response:
        """One of them is as given."""
        return _json((await self.store.update(names["proxy"], body)).shown())

    async def delete(self, names: dict[str, str], body: bytes) -> Response:
        """One of them less."""
        await self.store.remove(names["proxy"])
        return Response(status_code=204)

    async def reset(self, _: dict[str, str], __: bytes) -> Response:
        """All listen, without toxics."""
        await self.store.reset()
        return Response(status_code=204)

    # toxics

    async def toxics(self, names: dict[str, str], body: bytes) -> Response:
        """Those of a proxy."""
        proxy = self.store.proxy(names["proxy"])
        return _json([toxic.shown() for toxic in proxy.toxics])

    async def add_toxic(self, names: dict[str, str], body: bytes) -> Response:
        """Another one."""
        proxy = self.store.proxy(names["proxy"])
        return _json(proxy.add(body).shown())

    async def show_toxic(self, names: dict[str, str], body: bytes) -> Response:
        """One of them."""
        proxy = self.store.proxy(names["proxy"])
        return _json(proxy.toxic(names["toxic"]).shown())

    async def update_toxic(self, names: dict[str, str], body: bytes) -> Response:
        """One of them has other attributes."""
        proxy = self.store.proxy(names["proxy"])
        return _json(proxy.change(names["toxic"], body).shown())

    async def remove_toxic(self, names: dict[str, str], body: bytes) -> Response:
        """One of them less."""
        self.store.proxy(names["proxy"]).remove(names["toxic"])
        return Response(status_code=204)

    # the rest

    async def version(self, _: dict[str, str], __: bytes) -> Response:
        """The version whose API this is."""
        text = f'{{"version": "{VERSION}"}}\n'
        return Response(text, headers={"content-type": "application/json;charset=utf-8"})

    async def metrics(self, _: dict[str, str], __: bytes) -> Response:
        """Bytes of each proxy, for Prometheus."""
        return Response(exposition(self.store), headers={"content-type": CONTENT_TYPE_LATEST})


async def _body(request: Request) -> bytes:
    """A request's body. Raises ApiError if it is too long, or not complete."""
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
    """As Go's http.Error answers."""
    headers = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}
    return Response(text, status, headers)


async def _unknown(_: Request, problem: Exception) -> Response:
    """No such path, or not by this method."""
    assert isinstance(problem, HTTPException)  # noqa: S101 - what it is registered for
    if problem.status_code == 404:
        return _text("404 page not found\n", 404)
    return Response(status_code=problem.status_code)
