"""Calls from the supervisor to a worker, several at a time; values and exceptions are pickled."""

from __future__ import annotations

import asyncio
import math
import pickle
import socket
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import count
from time import monotonic
from typing import Any, Final

_SIZE: Final = 4
"""The bytes of a message's size."""


class WorkerEnded(ConnectionError):
    """The error that the worker has ended."""


class Caller:
    """The supervisor's end of a stream socket; `gone` is called once, when the worker has ended."""

    def __init__(self, end: socket.socket, gone: Callable[[], None]) -> None:
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._gone = gone
        self._over = False
        self._writer: asyncio.StreamWriter | None = None
        self._unsent: list[bytes] = []
        self._task = asyncio.get_running_loop().create_task(self._listen(end))

    async def call(self, name: str, *args: Any, within: float = math.inf) -> Any:
        """Call a method of the worker and return its result.

        Args:
            name: The method's name.
            *args: Its arguments.
            within: Seconds; a worker that comes to it later does not begin.

        Raises:
            TimeoutError: No answer came within that time.
            WorkerEnded: The worker has ended.
            Exception: The method's exception.
        """
        if self._over:
            raise WorkerEnded
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        message = _packed((number, monotonic() + within, name, args))
        if self._writer is None:
            self._unsent.append(message)
        else:
            self._writer.write(message)
        try:
            async with asyncio.timeout(None if within == math.inf else within):
                return await answer
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """End the calls, so that the worker ends."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _listen(self, end: socket.socket) -> None:
        reader, self._writer = await asyncio.open_unix_connection(sock=end)
        try:
            self._writer.writelines(self._unsent)
            while True:
                number, failure, value = await _read(reader)
                answer = self._waiting.pop(number, None)
                if answer is None or answer.done():  # the caller no longer waits
                    continue
                if failure is None:
                    answer.set_result(value)
                else:
                    answer.set_exception(failure)
        except (asyncio.IncompleteReadError, ConnectionError):
            self._gone()
        finally:
            self._over = True
            self._writer.close()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(WorkerEnded())


async def serve(end: socket.socket, methods: Callable[[str], Callable[..., Any]]) -> None:
    """Answer the supervisor's calls until it ends them.

    `methods` returns the method of a name, which may be async.
    """
    reader, writer = await asyncio.open_unix_connection(sock=end)

    async def do(number: int, until: float, name: str, args: tuple[Any, ...]) -> None:
        if monotonic() > until:  # all processes have the same clock
            return
        failure, value = None, None
        try:
            result = methods(name)(*args)
            value = await result if asyncio.iscoroutine(result) else result
        except Exception as problem:  # noqa: BLE001 - whoever asked gets it
            failure = problem
        try:
            answer = _packed((number, failure, value))
            if failure is not None:
                pickle.loads(answer[_SIZE:])  # noqa: S301 - whether it can be read there
        except Exception as problem:  # noqa: BLE001 - what can not be pickled, an exception mostly
            answer = _packed((number, RuntimeError(repr(failure or problem)), None))
        writer.write(answer)

    tasks: set[asyncio.Task[None]] = set()
    with suppress(asyncio.IncompleteReadError, ConnectionError), closing(writer):
        while True:
            task = asyncio.get_running_loop().create_task(do(*await _read(reader)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


def _packed(value: Any) -> bytes:
    data = pickle.dumps(value)
    return len(data).to_bytes(_SIZE) + data


async def _read(reader: asyncio.StreamReader) -> Any:
    size = int.from_bytes(await reader.readexactly(_SIZE))
    return pickle.loads(await reader.readexactly(size))  # noqa: S301 - from our own process
