"""Carries out a check's operations on real connections, with asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from barnabas.captures.host_port import endpoint_text
from barnabas.conform.operations import (
    Address,
    Close,
    NotOwned,
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
from barnabas.conform.traffic import CheckTraffic
from barnabas.conform.verdicts import Evidence, Failed, Skipped
from barnabas.peers.ownership import OPTION, is_loopback

FRAME_LIMIT: Final = 32 << 20
"""Bytes of the largest response that is read: checks run side by side, and failures keep their frames."""

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
        traffic: writes the connections to a capture; None: there is no capture.
        observe: is called with each operation and its result, or the exception that it raised.
        owned: whether other machines, whose addresses the broker advertises, may be written to.
    """

    def __init__(
        self,
        broker: Address,
        tls: ssl.SSLContext | None = None,
        restart: Callable[[], Awaitable[None]] | None = None,
        traffic: CheckTraffic | None = None,
        observe: Callable[[Operation[Any], Any], None] = lambda operation, result: None,
        *,
        owned: bool = False,
    ) -> None:
        self._broker = broker
        self._tls = tls
        self._restart = restart
        self._traffic = traffic
        self._observe = observe
        self._owned = owned
        self._streams: dict[int, Stream] = {}
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> Network:
        return self

    async def __aexit__(self, *_: object) -> None:
        for connection in self._streams:
            self._close(connection, "close")

    def packets(self, evidence: Evidence) -> tuple[int, ...]:
        """Return the packet numbers of frames in the capture; none without a capture."""
        return () if self._traffic is None else self._traffic.packets(evidence)

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
                await self._write(connection, data)
            case Read(connection, seconds):
                return await self._read(connection, seconds)
            case Close(connection, how):
                self._close(connection, how)
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
        if not self._owned and address != self._broker and not is_loopback(address[0]):
            raise NotOwned(
                f"the broker advertises {endpoint_text(address)}, which is not this machine: "
                f"if you own it, give {OPTION}"
            )
        try:
            async with asyncio.timeout(CONNECT_S):
                reader, writer = await asyncio.open_connection(
                    *address, ssl=self._tls, limit=1 << 20
                )
        except (OSError, OverflowError, UnicodeError) as problem:
            raise Unreachable(f"{endpoint_text(address)}: {_reason(problem)}") from None
        connection = len(self._streams)
        self._streams[connection] = Stream(reader, writer)
        if self._traffic is not None:
            client, server = (writer.get_extra_info(name)[:2] for name in ("sockname", "peername"))
            self._traffic.opened(connection, client, server)
        return connection

    async def _write(self, connection: int, data: bytes) -> None:
        if self._traffic is not None:
            self._traffic.passed(connection, "request", data)
        writer = self._streams[connection].writer
        if writer.transport.is_closing():
            return
        with contextlib.suppress(OSError):
            writer.write(data)
            await writer.drain()

    async def _read(self, connection: int, seconds: float) -> bytes | None:
        reader = self._streams[connection].reader
        try:
            async with asyncio.timeout(seconds):
                head = await reader.readexactly(4)
                size = struct.unpack(">i", head)[0]
                if not 0 <= size <= FRAME_LIMIT:
                    raise Failed("response", f"a size of 0 to {FRAME_LIMIT:,} bytes", f"{size:,}")
                frame = await reader.readexactly(size)
        except TimeoutError:
            raise Silence from None
        except (asyncio.IncompleteReadError, OSError):
            return None
        if self._traffic is not None:
            self._traffic.passed(connection, "response", head + frame)
        return frame

    def _close(self, connection: int, how: str) -> None:
        stream = self._streams[connection]
        if self._traffic is not None and how != "half":
            self._traffic.closed(connection, how == "reset")
        if how == "half":
            if not stream.writer.can_write_eof():
                raise Skipped("a TLS connection can't be closed in one direction")
            stream.writer.write_eof()
            return
        if how == "reset":
            sock = stream.writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.writer.transport.abort()


def _reason(problem: OSError | OverflowError | UnicodeError) -> str:
    """Return why there is no connection, in a few words."""
    if isinstance(problem, TimeoutError):
        return f"no connection within {CONNECT_S:g} s"
    if isinstance(problem, ssl.SSLError):
        return f"TLS: {problem.reason or problem}"
    # asyncio joins the errors of several addresses, such as those of localhost, in one text
    if number := re.search(r"\[Errno (\d+)\]", str(problem)):
        return os.strerror(int(number[1]))
    return getattr(problem, "strerror", None) or f"not a usable address: {problem}"
