"""Runs a broker's sans-IO core on asyncio: the core decides, the listener has sockets, timers and order."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

Address = tuple[str, int]

READ: Final = 1 << 16
UNSENT_LIMIT: Final = 8 << 20
"""Bytes that a client may leave unread before its connection is closed."""


@dataclass(frozen=True)
class Send:
    """An action: send bytes on a connection."""

    connection: int
    data: bytes


@dataclass(frozen=True)
class Close:
    """An action: close a connection, for a reason."""

    connection: int
    reason: str


Action = TypeVar("Action")


@dataclass(frozen=True)
class Log:
    """An action: log a line for the operator, with level FATAL, ERROR or INFO."""

    level: str
    text: str


class Core(Protocol[Action]):
    """The sans-IO logic of a broker. Connections' numbers are unique; times are ms."""

    @property
    def wake(self) -> int | None:
        """Return the time of the next `tick`; None: not needed."""

    def connected(self, connection: int, host: str) -> None:
        """Note a new connection from a host."""

    def receive(self, connection: int, data: bytes, now: int) -> list[Action]:
        """Process bytes of a connection."""

    def closed(self, connection: int, now: int) -> list[Action]:
        """Note that the client closed a connection, or that it broke."""

    def tick(self, now: int) -> list[Action]:
        """Process the passing of time."""


def now_ms() -> int:
    """Return the time of the cores' clock in ms."""
    return time.monotonic_ns() // 1_000_000


def call_in(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Call a function in a loop, from any thread; do nothing if the loop is closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function)


class Listener(Generic[Action]):
    """A running core with its sockets.

    Args:
        core: the logic.
        carry_out: performs one action; the next one waits until it returns. An exception ends the broker
            (`failure`).
        ended: called after the broker has ended itself, when all connections are closed.
    """

    def __init__(
        self,
        core: Core[Action],
        carry_out: Callable[[Action], Awaitable[None]],
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        self.address: Address = ("", 0)
        self.failure: Exception | None = None
        self._core = core
        self._carry_out = carry_out
        self._ended = ended
        self._writers: dict[int, asyncio.StreamWriter] = {}
        self._numbers = itertools.count(1)
        self._queue: asyncio.Queue[Action] = asyncio.Queue()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped = False

    async def start(self, address: Address = ("127.0.0.1", 0)) -> None:
        """Listen on an address. Raises OSError."""
        self._server = await asyncio.start_server(self._accept, *address)
        self.address = self._server.sockets[0].getsockname()[:2]
        self.run_concurrently(self._work())

    async def stop(self) -> None:
        """Close everything at once, as if the broker had died."""
        self._end()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def do(self, actions: list[Action]) -> None:
        """Queue the core's actions after earlier ones."""
        for action in actions:
            self._queue.put_nowait(action)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        wake = self._core.wake
        if wake is not None and not self._stopped:
            delay = max(0, wake - now_ms()) / 1e3
            self._timer = asyncio.get_running_loop().call_later(
                delay, lambda: self.do(self._core.tick(now_ms()))
            )

    def run_concurrently(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine for which actions do not wait; its exception ends the broker, too."""
        self._keep(asyncio.create_task(self._guarded(work)))

    def send(self, action: Send) -> None:
        """Write to a connection, if it is still open."""
        writer = self._writers.get(action.connection)
        if writer is not None and not writer.is_closing():
            writer.write(action.data)
            if writer.transport.get_write_buffer_size() > UNSENT_LIMIT:
                writer.transport.abort()

    def close(self, action: Close) -> None:
        """Close a connection after its pending writes."""
        writer = self._writers.get(action.connection)
        if writer is not None:
            writer.close()

    def abort(self) -> None:
        """Close all connections at once, and drop queued actions."""
        while not self._queue.empty():
            self._queue.get_nowait()
        for writer in self._writers.values():
            writer.transport.abort()

    def _end(self) -> None:
        self._stopped = True
        self._server.close()
        if self._timer is not None:
            self._timer.cancel()
        self.abort()

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._stopped:  # connected while everything was being closed
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None  # noqa: S101
        self._keep(task)
        number = next(self._numbers)
        self._writers[number] = writer
        peer = writer.get_extra_info("peername")  # None: the client has gone already
        self._core.connected(number, peer[0] if peer else "")
        try:
            with contextlib.suppress(ConnectionError):
                while data := await reader.read(READ):
                    self.do(self._core.receive(number, data, now_ms()))
        except asyncio.CancelledError:
            pass  # it stops
        finally:
            self._writers.pop(number, None)
            writer.close()
            if not self._stopped:
                self.do(self._core.closed(number, now_ms()))

    async def _work(self) -> None:
        while True:
            await self._carry_out(await self._queue.get())

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as problem:  # noqa: BLE001 - whatever it is, nothing more will be done
            self.failure = problem
            self._end()
            self._ended()
