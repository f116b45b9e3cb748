"""Carries out a check's operations on real connections, with asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from barnabas.conform.operations import (
    Address,
    Close,
    Now,
    Open,
    Operation,
    Read,
    Restart,
    Silence,
    Sleep,
    Steps,
    T,
    Unreachable,
    Write,
)

FRAME_LIMIT: Final = 128 << 20
"""Bytes of the largest response that is read."""

CONNECT_S: Final = 10.0


@dataclass(slots=True)
class Stream:
    """A connection's two directions."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class Network:
    """Carries out operations of one check. Use as an async context manager: it closes all connections.

    Args:
        broker: the address of the broker under test.
        tls: how to encrypt, if the broker's listener does.
        restart: restarts the broker; None if there is no way.
        observe: is called with each operation and its result, or the exception that it raised.
    """

    def __init__(
        self,
        broker: Address,
        tls: ssl.SSLContext | None = None,
        restart: Callable[[], Awaitable[None]] | None = None,
        observe: Callable[[Operation[Any], Any], None] = lambda operation, result: None,
    ) -> None:
        self._broker = broker
        self._tls = tls
        self._restart = restart
        self._observe = observe
        self._streams: dict[int, Stream] = {}
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> Network:
        return self

    async def __aexit__(self, *_: object) -> None:
        for stream in self._streams.values():
            stream.writer.transport.abort()

    async def run(self, steps: Steps[T]) -> T:
        """Run a coroutine of operations to its end, and return its result."""
        send: Callable[[Any], Operation[Any]] = steps.send
        value: Any = None
        try:
            while True:
                operation = send(value)
                try:
                    send, value = steps.send, await self._perform(operation)
                except (Silence, Unreachable) as problem:
                    send, value = steps.throw, problem
                self._observe(operation, value)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    async def _perform(self, operation: Operation[Any]) -> Any:
        match operation:
            case Open(address):
                return await self._open(address or self._broker)
            case Write(connection, data):
                stream = self._streams[connection]
                with contextlib.suppress(OSError):
                    stream.writer.write(data)
                    await stream.writer.drain()
            case Read(connection, seconds):
                return await self._read(self._streams[connection], seconds)
            case Close(connection, how):
                self._close(self._streams[connection], how)
            case Sleep(seconds):
                await asyncio.sleep(seconds)
            case Now():
                return self._loop.time()
            case Restart():
                if self._restart is not None:
                    await self._restart()
                return self._restart is not None
        return None

    async def _open(self, address: Address) -> int:
        try:
            async with asyncio.timeout(CONNECT_S):
                reader, writer = await asyncio.open_connection(
                    *address, ssl=self._tls, limit=1 << 20
                )
        except (OSError, TimeoutError) as problem:
            number = getattr(problem, "errno", None)
            reason = os.strerror(number) if number else f"no connection within {CONNECT_S:g} s"
            raise Unreachable(f"{address[0]}:{address[1]}: {reason}") from None
        self._streams[len(self._streams)] = Stream(reader, writer)
        return len(self._streams) - 1

    async def _read(self, stream: Stream, seconds: float) -> bytes | None:
        try:
            async with asyncio.timeout(seconds):
                size = struct.unpack(">i", await stream.reader.readexactly(4))[0]
                if not 0 <= size <= FRAME_LIMIT:
                    return None
                return await stream.reader.readexactly(size)
        except TimeoutError:
            raise Silence from None
        except (asyncio.IncompleteReadError, OSError):
            return None

    @staticmethod
    def _close(stream: Stream, how: str) -> None:
        if how == "half":
            stream.writer.write_eof()
            return
        if how == "reset":
            sock = stream.writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.writer.transport.abort()
