"""A broker's core in front of another one: it answers Produce, Fetch and Offsets from logs.

As in Kafka, a connection's requests are processed in order: requests after a waiting Fetch wait, too. Bytes
that are no request of 0.8 close the connection.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.designs.brokers.listener import Address, Close, Core, Send
from barnabas.designs.brokers.logs.answers import (
    Body,
    LedLogs,
    available,
    fetched,
    offsets,
    produced,
)
from barnabas.designs.brokers.logs.metadata import metadata
from barnabas.designs.framing import Frames, FramingError
from barnabas.specs.frames import Frame, Short, decode_frame, encode_frame, request_head
from barnabas.specs.keys import FETCH, LIST_OFFSETS, METADATA, PRODUCE
from barnabas.specs.malformed import Malformed

FRAME_LIMIT: Final = 16 << 20
"""Bytes of the largest request."""

QUEUE_LIMIT: Final = 16 << 20
"""Bytes that a connection may have sent after a waiting Fetch."""

RECORDS: Final = frozenset((PRODUCE, FETCH, LIST_OFFSETS))

_KEY: Final = struct.Struct(">h")


@dataclass
class _Connection:
    frames: Frames = field(default_factory=lambda: Frames(FRAME_LIMIT))
    queue: deque[bytes] = field(default_factory=deque)
    queued: int = 0
    """Bytes in the queue."""
    fetch: tuple[int, int, Body] | None = None
    """A Fetch that waits: until when (ms), its correlation id and its body."""
    others: bool = False
    """Whether the other core gets all bytes."""


class LogBroker:
    """A core for `Listener`. Times are ms.

    Args:
        keys: APIs that this core answers; Metadata may be among them.
        becomes: the API after which a connection belongs to the other core alone.
        waits: returns whether the other core owes a connection a response. A request for records then closes
            the connection, since its response would be out of order.
    """

    def __init__(
        self,
        other: Core[Any],
        logs: LedLogs,
        brokers: int,
        *,
        keys: frozenset[int] = RECORDS,
        becomes: int | None = None,
        waits: Callable[[int], bool] = lambda connection: False,
    ) -> None:
        self._other = other
        self._logs = logs
        self._brokers = brokers
        self._keys = keys
        self._becomes = becomes
        self._waits = waits
        self._nodes: dict[int, Address] = {}
        self._topics: dict[str, int] = {}
        self._connections: dict[int, _Connection] = {}

    @property
    def wake(self) -> int | None:
        """Return the time of the next `tick` in ms; None: not needed."""
        times = [at.fetch[0] for at in self._connections.values() if at.fetch is not None]
        other = self._other.wake
        return min(times if other is None else [*times, other], default=None)

    def cluster(self, nodes: Mapping[int, Address], topics: Mapping[str, int]) -> None:
        """Set the brokers' addresses, and the topics with their numbers of partitions."""
        self._nodes, self._topics = dict(nodes), dict(topics)

    def connected(self, connection: int, host: str = "") -> None:
        """Note a new connection."""
        self._connections[connection] = _Connection()
        self._other.connected(connection, host)

    def receive(self, connection: int, data: bytes, now: int) -> list[Any]:
        """Process bytes of a connection."""
        at = self._connections.get(connection)
        if at is None:
            return []
        try:
            frames = at.frames.take(data)
        except FramingError as problem:
            return self._close(connection, str(problem), now)
        at.queue.extend(frames)
        at.queued += sum(map(len, frames))
        out = self._work(connection, at, now)
        if at.queued > QUEUE_LIMIT and connection in self._connections:
            out += self._close(connection, f"{at.queued} bytes behind a Fetch that waits", now)
        return out

    def closed(self, connection: int, now: int) -> list[Any]:
        """Note that the client closed a connection, or that it broke."""
        self._connections.pop(connection, None)
        return self._other.closed(connection, now)

    def tick(self, now: int) -> list[Any]:
        """Process the passing of time."""
        return self._other.tick(now) + self.answer_waiting(now)

    def answer_waiting(self, now: int) -> list[Any]:
        """Answer each Fetch that need not wait any longer, and continue after it."""
        out: list[Any] = []
        for connection, at in tuple(self._connections.items()):
            if at.fetch is not None and self._ready(at.fetch, now):
                out.append(self._fetched(connection, *at.fetch[1:]))
                at.fetch = None
                out += self._work(connection, at, now)
        return out

    def _work(self, connection: int, at: _Connection, now: int) -> list[Any]:
        out: list[Any] = []
        while at.queue and at.fetch is None and connection in self._connections:
            frame = at.queue.popleft()
            at.queued -= len(frame)
            key = _KEY.unpack_from(frame)[0] if len(frame) >= _KEY.size else None
            if at.others or key not in self._keys:
                at.others |= key is not None and key == self._becomes
                done = self._other.receive(connection, len(frame).to_bytes(4) + frame, now)
                if any(
                    isinstance(action, Close) and action.connection == connection for action in done
                ):
                    self._connections.pop(connection)
                out += done
                continue
            if self._waits(connection):
                out += self._close(connection, "a request for records behind one that waits", now)
                continue
            try:
                out += self._handle_request(connection, at, frame, now)
            except Malformed as problem:
                out += self._close(connection, f"no request: {problem}", now)
        return out

    def _handle_request(
        self, connection: int, at: _Connection, frame: bytes, now: int
    ) -> list[Any]:
        """Process a request that this core answers. Raises Malformed."""
        try:
            head = request_head(frame, 0, len(frame))
        except Short:
            raise Malformed("header", 0, "the header is cut off") from None
        if head.version:
            raise Malformed("api_version", 2, f"version {head.version} is not spoken here")
        body, number = decode_frame(frame, "request").body, head.correlation_id
        if head.key == FETCH:
            fetch = now + max(0, body["max_wait_ms"]), number, body
            if not self._ready(fetch, now):
                at.fetch = fetch
                return []
            return [self._fetched(connection, number, body)]
        if head.key == METADATA:
            response = metadata(body, self._topics, self._nodes, self._brokers)
            return [_response(connection, METADATA, number, response)]
        if head.key == LIST_OFFSETS:
            response = offsets(body, self._logs, self._topics)
            return [_response(connection, LIST_OFFSETS, number, response)]
        response = produced(body, self._logs, self._topics)
        out = [] if body["acks"] == 0 else [_response(connection, PRODUCE, number, response)]
        return out + self.answer_waiting(now)

    def _ready(self, fetch: tuple[int, int, Body], now: int) -> bool:
        due, _, body = fetch
        size = available(body, self._logs, self._topics)
        return due <= now or size is None or size >= body["min_bytes"]

    def _fetched(self, connection: int, number: int, body: Body) -> Send:
        return _response(connection, FETCH, number, fetched(body, self._logs, self._topics))

    def _close(self, connection: int, reason: str, now: int) -> list[Any]:
        return [Close(connection, reason), *self.closed(connection, now)]


def _response(connection: int, key: int, number: int, body: Body) -> Send:
    frame = Frame("response", key, 0, {"correlation_id": number}, body)
    return Send(connection, encode_frame(frame))
