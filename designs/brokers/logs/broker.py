"""A broker's core in front of another one: Produce, Fetch and Offsets of logs; all else is the other's.

As in Kafka, requests of a connection are worked on one behind the other: what stands behind a Fetch that
waits, waits too. What is no request of 0.8 costs its connection.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.designs.brokers.listener import Address, Close, Core, Send
from barnabas.designs.brokers.logs.answers import Body, Led, available, fetched, offsets, produced
from barnabas.designs.brokers.logs.metadata import metadata
from barnabas.designs.framing import Frames, Refused
from barnabas.specs.frames import Frame, Short, decode_frame, encode_frame, request_head
from barnabas.specs.keys import FETCH, LIST_OFFSETS, METADATA, PRODUCE
from barnabas.specs.malformed import Malformed

FRAME_LIMIT: Final = 16 << 20
"""Bytes of the largest request."""

QUEUE_LIMIT: Final = 16 << 20
"""Bytes that a connection may have sent behind a Fetch that waits."""

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
    """Whether all that comes is the other core's."""


class LogBroker:
    """A core for `Listener`. Times are ms.

    keys: APIs that are answered here; Metadata may be among them. becomes: the API behind which a connection
    is the other core's alone. waits: whether the other core owes a connection an answer; a request for
    records behind it closes the connection, which would get its answers out of order.
    """

    def __init__(
        self,
        other: Core[Any],
        logs: Led,
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
        """When `tick` has something to do, in ms."""
        times = [at.fetch[0] for at in self._connections.values() if at.fetch is not None]
        other = self._other.wake
        return min(times if other is None else [*times, other], default=None)

    def cluster(self, nodes: Mapping[int, Address], topics: Mapping[str, int]) -> None:
        """The brokers with their addresses, and the topics with their numbers of partitions."""
        self._nodes, self._topics = dict(nodes), dict(topics)

    def connected(self, connection: int, host: str = "") -> None:
        """Somebody has connected."""
        self._connections[connection] = _Connection()
        self._other.connected(connection, host)

    def receive(self, connection: int, data: bytes, now: int) -> list[Any]:
        """Bytes of a connection."""
        at = self._connections.get(connection)
        if at is None:
            return []
        try:
            frames = at.frames.take(data)
        except Refused as problem:
            return self._close(connection, str(problem), now)
        at.queue.extend(frames)
        at.queued += sum(map(len, frames))
        out = self._work(connection, at, now)
        if at.queued > QUEUE_LIMIT and connection in self._connections:
            out += self._close(connection, f"{at.queued} bytes behind a Fetch that waits", now)
        return out

    def closed(self, connection: int, now: int) -> list[Any]:
        """The other side has closed a connection, or it is broken."""
        self._connections.pop(connection, None)
        return self._other.closed(connection, now)

    def tick(self, now: int) -> list[Any]:
        """Time has passed."""
        return self._other.tick(now) + self.look(now)

    def look(self, now: int) -> list[Any]:
        """Answer each Fetch that need wait no longer, and go on behind it."""
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
                if any(isinstance(one, Close) and one.connection == connection for one in done):
                    self._connections.pop(connection)
                out += done
                continue
            if self._waits(connection):
                out += self._close(connection, "a request for records behind one that waits", now)
                continue
            try:
                out += self._asked(connection, at, frame, now)
            except Malformed as problem:
                out += self._close(connection, f"no request: {problem}", now)
        return out

    def _asked(self, connection: int, at: _Connection, frame: bytes, now: int) -> list[Any]:
        """A request that is answered here. Raises Malformed."""
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
            told = metadata(body, self._topics, self._nodes, self._brokers)
            return [_response(connection, METADATA, number, told)]
        if head.key == LIST_OFFSETS:
            told = offsets(body, self._logs, self._topics)
            return [_response(connection, LIST_OFFSETS, number, told)]
        told = produced(body, self._logs, self._topics)
        out = [] if body["acks"] == 0 else [_response(connection, PRODUCE, number, told)]
        return out + self.look(now)

    def _ready(self, fetch: tuple[int, int, Body], now: int) -> bool:
        due, _, body = fetch
        size = available(body, self._logs, self._topics)
        return due <= now or size is None or size >= body["min_bytes"]

    def _fetched(self, connection: int, number: int, body: Body) -> Send:
        return _response(connection, FETCH, number, fetched(body, self._logs, self._topics))

    def _close(self, connection: int, why: str, now: int) -> list[Any]:
        return [Close(connection, why), *self.closed(connection, now)]


def _response(connection: int, key: int, number: int, body: Body) -> Send:
    frame = Frame("response", key, 0, {"correlation_id": number}, body)
    return Send(connection, encode_frame(frame))
