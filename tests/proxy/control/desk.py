"""A proxy with a control port, in front of one broker of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from barnabas.api_version import PREFIX
from barnabas.captures.kafka.exchange import Exchange
from barnabas.proxy.control.api import application, routes
from barnabas.proxy.control.guard import new_token
from barnabas.proxy.control.history import MOST, History
from barnabas.proxy.control.local_target import LocalTarget
from barnabas.proxy.control.server import RunningServer, serve
from tests.answer import Answer
from tests.proxy.frames import request
from tests.proxy.servers import SOON, Handler, Running, echo_metadata, read_frame, running


@dataclass
class Desk:
    """The proxy, its history, and who may ask."""

    it: Running
    history: History
    serving: RunningServer
    token: str
    drained: list[bool]

    @property
    def where(self) -> str:
        host, port = self.serving.address
        return f"{host}:{port}"

    async def ask(self, method: str, path: str, body: bytes = b"") -> Answer:
        """Send a request as it should be; path: behind the version."""
        lines = (f"Host: {self.where}", f"Authorization: Bearer {self.token}")
        return await self.raw(method, PREFIX + path, lines, body)

    async def get(self, path: str) -> Any:
        """Return the JSON of a successful response."""
        answer = await self.ask("GET", path)
        assert answer.status == 200, answer.body
        return answer.json

    async def raw(
        self, method: str, path: str, lines: tuple[str, ...], body: bytes = b""
    ) -> Answer:
        """Send a request with these header lines."""
        reader, writer = await asyncio.open_connection(*self.serving.address)
        more = (f"Content-Length: {len(body)}", "Connection: close")
        head = "\r\n".join((f"{method} {path} HTTP/1.1", *lines, *more))
        writer.write(head.encode() + b"\r\n\r\n" + body)
        answer = await answered(reader)
        writer.close()
        return answer

    async def follow(self, query: str = "") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a stream, up to the end of its headers."""
        reader, writer = await asyncio.open_connection(*self.serving.address)
        head = (
            f"GET {PREFIX}/exchanges/stream{query} HTTP/1.0\r\nHost: {self.where}\r\n"
            f"Authorization: Bearer {self.token}\r\n\r\n"
        )
        writer.write(head.encode())
        status = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), SOON)
        assert status.split()[1] == b"200", status
        return reader, writer

    async def connection(self, number: int = 1) -> Any:
        """Return one connection in JSON form; None if it is not open."""
        found = [row for row in await self.get("/connections") if row["connection"] == number]
        return found[0] if found else None

    async def exchange(self, number: int = 1, name: str = "Metadata", **more: Any) -> None:
        """One exchange on a connection of its own."""
        async with self.client() as (reader, writer):
            writer.write(request(name, number, **more))
            await asyncio.wait_for(read_frame(reader), SOON)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Connect through the proxy; at the end the proxy has closed the connection, too."""
        before = set(self.it.proxy.relays.values())
        reader, writer = await self.it.connect()
        await self.it.until(lambda: set(self.it.proxy.relays.values()) - before)
        (mine,) = set(self.it.proxy.relays.values()) - before
        try:
            yield reader, writer
        finally:
            writer.close()
            await self.it.until(lambda: mine not in self.it.proxy.relays.values())


async def answered(reader: asyncio.StreamReader) -> Answer:
    """Read a response to its end."""
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), SOON)).decode()
    first, *lines = head.strip().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return Answer(int(first.split()[1]), headers, await asyncio.wait_for(reader.read(), SOON))


@asynccontextmanager
async def desk(
    scenario: str = "",
    broker: Handler = echo_metadata,
    capture: Path | None = None,
    most: int = MOST,
    **options: Any,
) -> AsyncIterator[Desk]:
    """Run a proxy whose log is off (no exchange is observed) unless the options enable it."""
    history = History(lambda wanted: found.it.proxy.observe(wanted), most=most)
    shown: Callable[[Exchange], None] = history.add
    options = {"observed": False, "drain": 0.2, **options}
    async with running(broker, scenario, capture, shown=shown, **options) as it:
        token, drained = new_token(), list[bool]()
        drain = partial(drained.append, True)
        every = routes(LocalTarget(it.proxy), history, it.proxy.shared.topics, drain, lambda _: 7)
        serving = await serve(application(every), ("127.0.0.1", 0), token)
        found = Desk(it, history, serving, token, drained)
        try:
            yield found
        finally:
            history.close()
            await serving.stop()
