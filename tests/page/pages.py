"""The page over a capture, for tests."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.loop import run
from barnabas.page.api import PageContent, application, is_file
from barnabas.page.forms import of_capture
from barnabas.page.recorded import Recorded
from barnabas.proxy.control.history import History
from barnabas.proxy.control.server import serve
from tests.answer import Answer

FAULTS = Path("captures/samples/faults.pcapng")


def shown(
    path: Path = FAULTS, change: Callable[[Exchange], None] = lambda _: None
) -> tuple[History, ASGIApp]:
    """What holds a capture's exchanges, each changed, and the application. To be made in a loop."""
    capture = open_capture(path)
    history = History(most=200_000, context=capture.context, learn=capture.learn_from)
    for exchange in capture.exchanges(inferred=True):
        change(exchange)
        history.add(exchange)
    history.close()
    source = {"kind": "capture", "name": path.name, "files": [path.name], "keeps": 200_000}
    topics, origin = capture.context.topics, of_capture(capture, lambda: open_capture(path))
    rules = Recorded(history, topics, capture.reader.meta.get("scenario")).routes
    return history, application(PageContent(history, source, origin=origin), rules)


@contextlib.asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[str]:
    """Its address, while it is served."""
    serving = await serve(app, ("127.0.0.1", 0), "secret", is_file)
    try:
        yield f"http://127.0.0.1:{serving.address[1]}/#token=secret"
    finally:
        await asyncio.wait_for(serving.stop(), 5)


class Caller:
    """Calls an application; headers are as they are given, with the token if there are none."""

    def __init__(self, address: str) -> None:
        self.address = address

    def __call__(self, path: str, body: str | None = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection(self.address)
        headers = headers or {"Authorization": "Bearer secret"}
        connection.request("GET" if body is None else "POST", path, body, headers)
        answer = connection.getresponse()
        named = {name.lower(): value for name, value in answer.getheaders()}
        found = Answer(answer.status, named, answer.read())
        connection.close()
        return found


def complete(ask: Callable[[], str | bytes]) -> dict[str, Any]:
    """Request a computed view until it has all exchanges: on a busy machine one response lacks some."""
    document: dict[str, Any] = {"waiting": 1}
    while document["waiting"]:
        document = json.loads(ask())
    return document


@contextlib.contextmanager
def called(make: Callable[[], tuple[History, ASGIApp]] = shown) -> Iterator[Caller]:
    """What calls an application that is made and served in a thread."""
    begun: list[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = []
    ready = threading.Event()

    async def main() -> None:
        over = asyncio.Event()
        async with served(make()[1]) as address:
            where = address.removeprefix("http://").partition("/")[0]
            begun.append((where, asyncio.get_running_loop(), over))
            ready.set()
            await over.wait()

    def serving() -> None:
        try:
            run(main())
        finally:
            ready.set()

    thread = threading.Thread(target=serving)
    thread.start()
    ready.wait()
    (found,) = begun
    address, loop, over = found
    try:
        yield Caller(address)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
