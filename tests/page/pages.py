"""The page over a capture, for tests."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from starlette.types import ASGIApp

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.page.api import application, is_file
from barnabas.page.forms import of_capture
from barnabas.page.recorded import Recorded
from barnabas.proxy.control.history import History
from barnabas.proxy.control.serving import serve


def shown(
    path: Path, change: Callable[[Exchange], None] = lambda _: None
) -> tuple[History, ASGIApp]:
    """What holds a capture's exchanges, each changed, and the application. To be made in a loop."""
    capture = open_capture(path)
    history = History(most=200_000, context=capture.context, learn=capture.learn_from)
    for exchange in capture.exchanges(inferred=True):
        change(exchange)
        history.add(exchange)
    history.close()
    source = {"kind": "capture", "name": path.name, "keeps": 200_000}
    topics, origin = capture.context.topics, of_capture(capture, lambda: open_capture(path))
    rules = Recorded(history, topics, capture.reader.meta.get("scenario")).routes
    return history, application(history, topics, source, rules, origin=origin)


@contextlib.asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[str]:
    """Its address, while it is served."""
    serving = await serve(app, ("127.0.0.1", 0), "secret", is_file)
    try:
        yield f"http://127.0.0.1:{serving.address[1]}/#token=secret"
    finally:
        await asyncio.wait_for(serving.stop(), 5)
