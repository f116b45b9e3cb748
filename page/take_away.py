"""The page's exchanges, all or some, as a file."""

from __future__ import annotations

import asyncio
import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import shorten
from barnabas.captures.values.value import Values
from barnabas.page.forms import FORMS, ExchangeSelection, Form, Origin
from barnabas.page.query import is_plain, query
from barnabas.peers.replay.as_pytest import NoTest
from barnabas.plural import plural
from barnabas.proxy.control.bodies import read_text
from barnabas.proxy.control.history import History

SOME: Final = 200
"""Exchanges that are looked up at a time; traffic is handled in between."""

CHUNK: Final = 1 << 18

LOOK: Final = 0.2
"""Seconds between two checks that the client still waits."""

REMARK_HEADER: Final = "Barnabas-Said"
"""The header with the number of exchanges and remarks on the file."""

USAGE: Final = (
    'give {"form": "'
    + '" or "'.join(form.name for form in FORMS)
    + '", "numbers": [...]} or "filter": "..." or neither, as JSON'
)


@dataclass(frozen=True, slots=True)
class TakeAway:
    """The request for a file of exchanges."""

    history: History
    origin: Origin
    values: Values = field(default_factory=Values)
    """Decodes the keys and values of records."""

    @property
    def routes(self) -> list[Route]:
        """Return the route of the request."""
        return [Route("/take", self.take, methods=["POST"])]

    async def take(self, request: Request) -> Response:
        """Return a file of the exchanges with `numbers`, of those that pass `filter`, or of all."""
        text = await read_text(request)
        context = await asyncio.to_thread(self.origin.context)
        form, selects, last, description = _parsed(text, context, self.values)
        held = await self._held(last)
        gone = (
            threading.Event()
        )  # ends the thread when the client is gone, or a stop would wait for it
        selection = ExchangeSelection(held, selects, self.origin, description, context, gone)
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed after it was sent
        try:
            writing = asyncio.ensure_future(asyncio.to_thread(form.write, selection, file))
            while not (await asyncio.wait({writing}, timeout=LOOK))[0]:
                if await request.is_disconnected():
                    gone.set()
            remark = await writing
            if not selection.count:
                raise HTTPException(404, "no exchange that is held is among those")
        except NoTest as problem:
            file.close()
            raise HTTPException(422, str(problem)) from None
        except BaseException:
            file.close()
            raise
        headers = {
            "Content-Disposition": f'attachment; filename="{form.file}"',
            "Content-Length": str(file.tell()),
            REMARK_HEADER: "; ".join(filter(None, (plural(selection.count, "exchange"), remark))),
        }
        file.seek(0)
        end = BackgroundTask(file.close)
        return StreamingResponse(_chunks(file), 200, headers, form.kind, end)

    async def _held(self, last: float) -> list[tuple[int, Exchange]]:
        await self.history.fresh()
        held: list[tuple[int, Exchange]] = []
        after = -1
        while after < last and (some := self.history.following(after, SOME)):
            held += some
            after = some[-1][0]
            await asyncio.sleep(0)
        return held


def _parsed(
    text: str, context: Context, values: Values
) -> tuple[Form, Callable[[int, Exchange], bool], float, str]:
    """Return the format, the selection, the last number that it may have, and its description."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise HTTPException(400, USAGE) from None
    if not isinstance(document, dict) or not document.keys() <= {"form", "numbers", "filter"}:
        raise HTTPException(400, USAGE)
    form = next((form for form in FORMS if form.name == document.get("form")), None)
    numbers, condition = document.get("numbers"), document.get("filter")
    if form is None or (numbers is not None and condition is not None):
        raise HTTPException(400, USAGE)
    if numbers is not None:
        if not isinstance(numbers, list) or not all(type(each) is int for each in numbers):
            raise HTTPException(400, "numbers: give a list of numbers")
        some = frozenset(numbers)
        count = plural(len(some), "chosen exchange")
        return form, lambda number, _: number in some, max(some, default=-1), count
    if condition is None or condition == "":
        return form, lambda *_: True, float("inf"), "all that were held"
    if not isinstance(condition, str):
        raise HTTPException(400, "filter: give text")
    passes = query(condition, context, values)
    description = f"{'text' if is_plain(condition) else '--filter'} {shorten(condition, 1000)}"
    return form, lambda _, exchange: passes(exchange), float("inf"), description


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while data := file.read(CHUNK):
        yield data
