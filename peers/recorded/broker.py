"""Listeners that answer as the brokers of a capture did.

There is one listener for bootstrap, and one for each broker that recorded responses name; responses contain
the listeners' addresses. A connection's requests are answered in order, as brokers do, each after the time
that the recorded broker took.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import struct
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.framing.stream_framing import FRAME_LIMIT
from barnabas.peers.recorded.answers import Answers
from barnabas.peers.recorded.api_versions import api_versions_response
from barnabas.peers.recorded.log import RecordedLog
from barnabas.specs.broker_addresses import NodeKind, address_fields, patch
from barnabas.specs.frames import RequestHead, Short, request_head
from barnabas.specs.headers import RESPONSE_HEADER, response_header_version
from barnabas.specs.keys import API_VERSIONS, FETCH
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES

LONGEST: Final = 30_000.0
"""The longest delay of a response, in milliseconds."""

Address = tuple[str, int]


@dataclass(slots=True)
class ServedCounts:
    """Counters of the requests that a recorded broker handled."""

    connections: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    """Requests by the reason for the choice, see `barnabas.peers.recorded.answers`."""
    unknown: Counter[str] = field(default_factory=Counter)
    """API and version -> requests of which nothing was recorded."""


class RecordedBroker:
    """Listeners that stand for the brokers of a recording.

    Args:
        exchanges: the recording.
        speed: 2.0 responds in half the time of the recorded brokers; 0: at once.
        say: prints lines for the user.
    """

    def __init__(
        self,
        exchanges: Iterable[Exchange],
        *,
        speed: float = 1.0,
        say: Callable[[str], None] = print,
    ) -> None:
        self.answers = Answers(exchanges)
        self._log = RecordedLog(self.answers.recorded)
        self.served = ServedCounts()
        self.listeners: dict[tuple[NodeKind, int] | None, Address] = {}
        """Addresses by kind and id of the node; None: for bootstrap."""
        self._speed = speed
        self._say = say
        self._versions = self.answers.versions()
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, listen: Address) -> None:
        """Listen on `listen`, and on a free port for each recorded broker. Raises OSError."""
        try:
            for node in (None, *self._nodes()):
                port = listen[1] if node is None else 0
                broker = None if node is None else node[1]
                server = await asyncio.start_server(
                    functools.partial(self._accept, broker), listen[0], port, limit=FRAME_LIMIT
                )
                self._servers.append(server)
                self.listeners[node] = server.sockets[0].getsockname()[:2]
        except OSError:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Close all connections and listeners."""
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _nodes(self) -> list[tuple[NodeKind, int]]:
        """Return the brokers and controllers that recorded responses name."""
        nodes: set[tuple[NodeKind, int]] = set()

        def note(kind: NodeKind, node: int, host: str, port: int) -> None:
            nodes.add((kind, node))

        for exchange in self.answers.recorded:
            body = exchange.response_body
            if body is not None and address_fields(exchange.key, exchange.version) is not None:
                with contextlib.suppress(Malformed):
                    patch(exchange.key, exchange.version, body, note)
        return sorted(nodes)

    async def _accept(
        self, broker: int | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.served.connections += 1
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while await self._turn(broker, reader, writer):
                    pass
        except asyncio.CancelledError:
            pass  # it stops
        finally:
            writer.close()

    async def _turn(
        self, broker: int | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request, and return whether the connection stays open."""
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        if not 8 <= size <= FRAME_LIMIT:
            self._say(f"a request of {size} bytes: connection closed")
            return False
        frame = await reader.readexactly(size)
        try:
            head = request_head(frame, 0, size)
        except (Short, Malformed) as problem:
            self._say(f"not a request ({problem or 'too short'}): connection closed")
            return False
        body = frame[head.body :]
        if head.key == API_VERSIONS:
            self.served.answered["the recorded versions"] += 1
            self._send(writer, head, api_versions_response(head.version, self._versions))
            return True
        if head.key == FETCH:
            return await self._fetch(writer, head, body)
        answer = self.answers.find(head.key, head.version, body, broker)
        if answer is None:
            self._never(head)
            return False
        self.served.answered[answer.how] += 1
        if head.acks == 0:
            return True
        exchange = answer.exchange
        if self._speed and exchange.broker_ms is not None:
            await asyncio.sleep(min(exchange.broker_ms, LONGEST) / 1e3 / self._speed)
        if (
            exchange.response_body is None
        ):  # as in the recording: no response, and the end of the connection
            return False
        reply = self._readdressed(head, exchange.response_body)
        if reply is None:
            return False
        self._send(writer, head, reply)
        await writer.drain()
        return True

    async def _fetch(self, writer: asyncio.StreamWriter, head: RequestHead, body: bytes) -> bool:
        answer = self._log.answer(head.version, body)
        if answer is None:
            self._never(head)
            return False
        reply, wait_ms = answer
        self.served.answered["the recorded log"] += 1
        await asyncio.sleep(min(wait_ms, LONGEST) / 1e3)
        self._send(writer, head, reply)
        await writer.drain()
        return True

    def _never(self, head: RequestHead) -> None:
        request = f"{NAMES.get(head.key, f'key {head.key}')} v{head.version}"
        self.served.unknown[request] += 1
        if self.served.unknown[request] <= 3:
            self._say(f"{head.client_id or '-'} requested {request}, which was not recorded")

    def _readdressed(self, head: RequestHead, body: bytes) -> bytes | None:
        try:
            changed = patch(head.key, head.version, body, self._listener)
        except Malformed as problem:
            self._say(f"a recorded {NAMES[head.key]} response can't be read: {problem}")
            return None
        return body if changed is None else changed

    def _listener(self, kind: NodeKind, node: int, host: str, port: int) -> Address | None:
        return self.listeners.get((kind, node))

    @staticmethod
    def _send(writer: asyncio.StreamWriter, head: RequestHead, body: bytes) -> None:
        version = response_header_version(head.key, head.version)
        header = RESPONSE_HEADER.codec(version).encode({"correlation_id": head.correlation_id})
        writer.write(struct.pack(">i", len(header) + len(body)) + header + body)
